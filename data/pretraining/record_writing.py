"""Writes the records of a corpus in memory, in the order of Google's script.

sharded_writing.py writes the records of a corpus of any size.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from data.io import tfrecord_files
from data.pretraining import instances
from data.pretraining.documents import DocumentReader, TextEncoder
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.text.tokenization import load_tokenizer
from data.text.vocabulary_files import chosen_casing


class WrittenRecords(NamedTuple):
    """The records of create_pretraining_data.py, as its log describes them.

    Attributes:
        num_instances: number of instances.
        num_files: number of the files that contain them.
        files: the files, as comma-separated paths or a pattern.
        is_new: whether this command wrote them, not an earlier one.
    """

    num_instances: int
    num_files: int
    files: str
    is_new: bool


def complete_casing(
    config: PretrainingDataConfig, *, is_set_by_user: bool
) -> PretrainingDataConfig:
    """Returns the flags with the casing of the vocabulary.

    `is_set_by_user` says whether the user set --do_lower_case. Otherwise the
    files beside the vocabulary may state another casing.

    Raises:
        ValueError: --do_lower_case contradicts a file beside the vocabulary.
        OSError: the vocabulary cannot be read.
    """
    options = config.instances
    casing = chosen_casing(options.do_lower_case, is_set_by_user=is_set_by_user)
    tokenizer = load_tokenizer(options.vocab_file, casing)
    return config.with_groups(
        dataclasses.replace(options, do_lower_case=tokenizer.do_lower_case)
    )


def write_records_in_order(
    config: PretrainingDataConfig, input_files: Sequence[str]
) -> WrittenRecords:
    """Writes the instances as Google's script does, record i to file i mod n.

    Args:
        config: the flags, with the casing of the vocabulary.
        input_files: paths of the text files.

    Raises:
        OSError: a file is missing or cannot be written.
        ValueError: the input contains no text.
    """
    reader = DocumentReader(TextEncoder(config.instances))
    output_files = config.output_file.split(",")
    # Open the output files first. If they cannot be written, the script fails
    # before it creates the instances.
    with tfrecord_files.RecordWriter(output_files) as writer:
        for record in instances.create_training_instances(
            input_files, reader, config.instances
        ):
            writer.write(record)
    return WrittenRecords(
        num_instances=writer.num_records,
        num_files=len(output_files),
        files=config.output_file,
        is_new=True,
    )
