"""Reads the questions that the flags select, and creates their task.

Call the functions in their order, as run_squad.py does. They import no
TensorFlow.
"""

from command_line.config_values import required_value
from data.sets.set_names import BaseSet
from data.squad.squad_processor import SquadProcessor
from training.config.squad_config import SquadConfig
from training.preparation.starting_point import StartingPoint
from training.tasks.squad import SquadTask


def load_processor(config: SquadConfig) -> SquadProcessor:
    """Creates the processor, and lets it read the sets of the command.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed, or contains no answers to evaluate.
    """
    files: dict[BaseSet, str] = {}
    if config.training.do_train:
        files["train"] = required_value(config.train_file)
    if config.reads_predict_file:
        files["dev"] = required_value(config.predict_file)
    processor = SquadProcessor(
        files,
        config.table.layout(),
        version_2_with_negative=config.decoding.version_2_with_negative,
        use_char_offsets=config.windows.use_char_offsets,
    )
    for set_name in files:
        processor.read(set_name)
    if config.evaluates:
        processor.check_answers()
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
