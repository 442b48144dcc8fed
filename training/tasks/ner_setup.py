"""Opens the sets of named entities, and creates their task, for run_ner.py.

Importing this module loads no TensorFlow.
"""

from data.ner.ner_examples import NerExample
from data.ner.ner_sets import NerSets
from data.sets.file_sets import FileSets
from training.config.ner_config import NerConfig
from training.preparation.data_file_decisions import (
    decide_length_and_epochs,
    with_dev_set_rule,
)
from training.starting_point import StartingPoint
from training.tasks.ner import NerTask


def open_sets(starting_point: StartingPoint[NerConfig]) -> FileSets[NerExample]:
    """Creates the sets, none of which was read yet.

    Raises:
        ValueError: --labels names fewer than two labels, or a label twice.
    """
    config = starting_point.config
    return NerSets(
        config.fine_tuning.data_dir, config.data_file_options, config.ner
    )


def decide_by_rows(
    starting_point: StartingPoint[NerConfig], sets: FileSets[NerExample]
) -> StartingPoint[NerConfig]:
    """Returns the StartingPoint with what the rows of --data_file decide.

    These are the rule of the dev set, and a length and epochs that suit the
    sentences. With --document_context, the length and the epochs stay, because
    windows are cut from complete documents.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    starting_point = with_dev_set_rule(starting_point, sets)
    if starting_point.config.ner.document_context:
        return starting_point
    return decide_length_and_epochs(starting_point, sets)


def create_task(
    starting_point: StartingPoint[NerConfig], sets: FileSets[NerExample]
) -> NerTask:
    """Creates the task, and reads the tags and all sets of the command.

    A wrong file thus stops the script at once, and not only after TensorFlow
    was loaded.
    """
    # There are labels, because the task is no regression.
    labels = sets.read_labels() or []
    for set_name in starting_point.config.set_names:
        sets.read(set_name)
    return NerTask(starting_point, sets, labels=labels)
