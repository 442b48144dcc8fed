"""Opens the sets that the flags select, and loads their task.

run_squad.py calls the functions in their order. Importing this module loads no
TensorFlow.
"""

import contextlib

from data.squad import answer_scoring
from data.squad.squad_sets import SquadSets
from training.config.model_config import required_value
from training.config.squad_config import SquadConfig
from training.starting_point import StartingPoint
from training.tasks.squad import SquadTask


def open_sets(starting_point: StartingPoint[SquadConfig]) -> SquadSets:
    """Creates the sets of the command, none of which was read yet."""
    config = starting_point.config
    train_file = None
    if config.training.do_train:
        train_file = required_value(config.train_file)
    predict_file = None
    if config.reads_predict_file:
        predict_file = required_value(config.predict_file)
    return SquadSets(
        train_file,
        predict_file,
        config.layout_options.layout(),
        version_2_with_negative=config.decoding.version_2_with_negative,
        use_char_offsets=config.windows.use_char_offsets,
    )


def load_task(
    starting_point: StartingPoint[SquadConfig], sets: SquadSets
) -> SquadTask:
    """Reads all sets of the command and the right answers. Creates the task.

    A wrong file thus stops the script at once, and not only after TensorFlow
    was loaded.
    """
    config = starting_point.config
    if config.reads_predict_file:
        sets.read_all(["dev"])
    if config.training.do_train:
        sets.read_all(["train"])
    if config.evaluates:
        sets.read_gold_answers().log_num_skipped()
    elif config.reads_predict_file:
        # Predictions are scored if --predict_file contains right answers.
        with contextlib.suppress(answer_scoring.NoGoldAnswersError):
            sets.read_gold_answers()
    return SquadTask(starting_point, sets)
