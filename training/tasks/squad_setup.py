"""Reads the questions that the flags select, and creates their task.

Call the functions in their order, as run_squad.py does. They import no
TensorFlow.
"""

from command_line.config_values import required_value
from data.squad.answer_scoring import read_gold_answers
from data.squad.squad_processor import SquadProcessor
from data.squad.squad_questions import read_squad_file
from training.config.squad_config import SquadConfig
from training.preparation.starting_point import StartingPoint
from training.tasks.squad import SquadTask


def load_processor(config: SquadConfig) -> SquadProcessor:
    """Creates the processor, and lets it read the sets of the command.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed, or contains no answers to evaluate.
    """
    layout = config.table.layout()
    is_v2 = config.decoding.version_2_with_negative
    train_file = None
    if config.training.do_train:
        train_file = required_value(config.train_file)
    predict_file = None
    if config.reads_predict_file:
        predict_file = read_squad_file(
            required_value(config.predict_file), layout
        )
    processor = SquadProcessor(
        train_file,
        predict_file,
        layout,
        version_2_with_negative=is_v2,
        use_char_offsets=config.windows.use_char_offsets,
    )
    if train_file is not None:
        processor.read("train")
    if predict_file is not None:
        processor.read("dev")
        if config.evaluates:
            # A file without answers stops the script now, not after an epoch.
            gold_answers = read_gold_answers(
                predict_file, version_2_with_negative=is_v2
            )
            gold_answers.log_num_skipped()
    return processor


def create_task(
    start: StartingPoint[SquadConfig], processor: SquadProcessor
) -> SquadTask:
    """Creates the task, as the flags request it."""
    config = start.config
    return SquadTask(
        start,
        processor,
        config.windows,
        config.decoding,
        writes_report=config.report,
    )
