"""Opens the sets that the flags select, and loads their task.

run_ner.py calls the functions in their order. Importing this module loads no
TensorFlow.
"""

from data.ner.ner_examples import NerExample
from data.ner.ner_reader import NerReader
from data.sets.held_sets import FileSets
from training.config.ner_config import NerConfig
from training.starting_point import StartingPoint
from training.tasks.ner import NerTask


def open_sets(starting_point: StartingPoint[NerConfig]) -> FileSets[NerExample]:
    """Creates the sets, none of which was read yet.

    Raises:
        ValueError: --labels names fewer than two labels, or a label twice.
    """
    config = starting_point.config
    return FileSets(
        NerReader(config.ner),
        config.fine_tuning.data_dir,
        config.data_file_options,
    )


def load_task(
    starting_point: StartingPoint[NerConfig], sets: FileSets[NerExample]
) -> NerTask:
    """Checks all sets of the command, and creates the task with their tags."""
    # There are labels, because the task is no regression.
    labels = sets.read_labels() or []
    sets.read_all(starting_point.config.set_names)
    return NerTask(starting_point, sets, labels=labels)
