"""Reads the sentences that the flags select, and creates their task.

Call the functions in their order, as run_ner.py does. They import no
TensorFlow.
"""

from data.ner.ner_example import NerExample
from data.ner.ner_reader import create_ner_sets
from data.sets.file_sets import FileSets
from training.config.ner_config import NerConfig
from training.preparation.starting_point import StartingPoint
from training.tasks.ner import NerTask


def read_sets(config: NerConfig) -> FileSets[NerExample]:
    """Reads the labels and the sets of the command.

    Raises:
        ValueError: a file is malformed.
        OSError: a file cannot be read.
    """
    file_sets = create_ner_sets(
        config.fine_tuning.data_dir, config.data_file_options, config.ner
    )
    file_sets.read_labels()
    for set_name in config.set_names:
        file_sets.read(set_name)
    return file_sets


def create_task(
    start: StartingPoint[NerConfig], file_sets: FileSets[NerExample]
) -> NerTask:
    """Creates the task, as the flags request it."""
    config = start.config
    return NerTask(
        start,
        file_sets,
        document_context=config.ner.document_context,
        legal_tags=config.legal_tags,
    )
