"""Reads the sentences that the flags select, and creates their task.

Call the functions in their order, as run_ner.py does. They import no
TensorFlow.
"""

from data.ner.ner_processor import NerProcessor
from training.config.ner_config import NerConfig
from training.preparation.starting_point import StartingPoint
from training.tasks.ner import NerTask


def load_processor(config: NerConfig) -> NerProcessor:
    """Creates the processor, and lets it read the sets of the command.

    Raises:
        ValueError: a file is malformed.
        OSError: a file cannot be read.
    """
    processor = NerProcessor(
        config.fine_tuning.data_dir, config.data_file_options, config.ner
    )
    processor.read_labels()
    for set_name in config.set_names:
        processor.read(set_name)
    return processor


def create_task(
    start: StartingPoint[NerConfig], processor: NerProcessor
) -> NerTask:
    """Creates the task, as the flags request it."""
    config = start.config
    return NerTask(
        start,
        processor,
        document_context=config.ner.document_context,
        legal_tags=config.legal_tags,
    )
