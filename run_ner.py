"""Fine-tunes BERT to tag named entities (CoNLL-2003), and predicts tags.

    python run_ner.py --data_file=FILE --init_checkpoint=MODEL --output_dir=DIR

A line of the file is a word and its tag, or in JSON, a text with its entities.
Training resumes from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools

from command_line import cli, flags
from command_line.flags import group
from data.ner.ner_options import NerOptions
from data.ner.ner_processor import NerProcessor
from model_folders import kinds
from training.config.fine_tuning_config import DataFileConfig
from training.preparation.data_file_adaptation import adapt_to_data_file
from training.preparation.starting_point import read_start
from training.tasks.ner import NerTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFileConfig):
    """Flags of the script, and the flags common to all fine-tuning scripts."""

    ner: NerOptions = group(NerOptions)
    legal_tags: bool = flags.decoding_flag(
        True,
        "Choose the most probable legal sequence of tags. For example, I-PER "
        "after O is illegal. False chooses the most probable tag of each word.",
    )
    model_class = kinds.TOKEN_CLASSIFIER


def create_processor(config: Config) -> NerProcessor:
    """Creates the processor, which reads all sets that the command needs.

    Their errors then show before TensorFlow is imported.

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


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    start = read_start(parsed)
    processor = create_processor(start.config)
    start = adapt_to_data_file(
        start,
        processor,
        may_set_flags=not start.config.ner.document_context,
    )
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training.flows import fine_tuning

    ner_task = NerTask(
        start,
        processor,
        document_context=start.config.ner.document_context,
        legal_tags=start.config.legal_tags,
    )
    fine_tuning.run(ner_task)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
