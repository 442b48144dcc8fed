"""Writes the records of a corpus in memory, in the order of Google's script.

With the same seed, `create_training_instances` draws the same random numbers as
Google's create_pretraining_data.py. sharded_writing.py writes the records of a
corpus of any size, by the same `InstanceEncoder`.
"""

import contextlib
import dataclasses
import gc
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from absl import logging

from data.io import tf_examples, tfrecords
from data.pretraining.corpus_checks import check_and_log_counts
from data.pretraining.documents import (
    Document,
    DocumentReader,
    EncodedVocabulary,
    LineRange,
    TextEncoder,
)
from data.pretraining.instances import (
    InstanceCreator,
    TrainingInstance,
    shuffle,
)
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.pretraining_options import InstanceOptions
from data.text.casing import chosen_casing
from data.text.tokenization import load_tokenizer
from terminal import progress


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
    output_files = config.output_file.split(",")
    # Open the output files first. If they cannot be written, the script fails
    # before it creates the instances.
    with tfrecords.RecordWriter(output_files) as writer:
        for record in create_training_instances(input_files, config.instances):
            writer.write(record)
    return WrittenRecords(
        num_instances=writer.num_records,
        num_files=len(output_files),
        files=config.output_file,
        is_new=True,
    )


@contextlib.contextmanager
def _without_garbage_collector() -> Iterator[None]:
    """Turns the garbage collector off, unless the caller has done so.

    The documents of a corpus are millions of lists. The collector would search
    all of them several times, for reference cycles that they do not contain.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


@_without_garbage_collector()
def create_training_instances(
    input_files: Sequence[str], options: InstanceOptions
) -> list[bytes]:
    """Creates the records that Google's code creates, in the same order.

    The option `dynamic_masking` must be off: Google's code does not have it.

    Raises:
        OSError: the vocabulary or an input file cannot be read.
        ValueError: the input contains no text.
    """
    reader = DocumentReader(TextEncoder(options))
    documents = _read_documents(input_files, reader)
    rng = random.Random(options.random_seed)
    shuffle(documents, rng)

    creator = InstanceCreator(reader.vocabulary, options, rng)
    encoder = InstanceEncoder(reader.vocabulary, options)
    records: list[bytes] = []
    passes = itertools.chain.from_iterable(
        itertools.repeat(range(len(documents)), options.dupe_factor)
    )
    total = len(documents) * options.dupe_factor
    for index in progress.track(passes, total, "document", "Instances of"):
        instances = creator.create_instances_from_document(documents, index)
        records.extend(map(encoder.encode_and_count, instances))
    shuffle(records, rng)
    return records


def _read_documents(
    input_files: Sequence[str], reader: DocumentReader
) -> list[Document]:
    """Reads all documents of a corpus, logs their counts, and checks these.

    As in Google's code, a blank line ends a document, but the end of a file
    does not.
    """
    last = len(input_files) - 1
    line_ranges = [
        LineRange(path, is_cut=file_index < last)
        for file_index, path in enumerate(input_files)
    ]
    documents = list(reader.read(line_ranges))
    check_and_log_counts(reader.counts, input_files)
    return documents


class InstanceEncoder:
    """Encodes instances as records, counts them, and logs the first instance.

    Attributes:
        vocabulary: the WordPieces, to log an instance as text.
        options: the lengths of the records, and how the text was masked.
        num_instances: number of the instances encoded so far.
        num_wordpieces: number of their WordPieces, without padding.
    """

    def __init__(
        self, vocabulary: EncodedVocabulary, options: InstanceOptions
    ) -> None:
        self.vocabulary = vocabulary
        self.options = options
        self.num_instances = 0
        self.num_wordpieces = 0

    def encode_and_count(self, instance: TrainingInstance) -> bytes:
        """Returns the record of an instance, and counts its WordPieces."""
        if not self.num_instances:
            self._log_instance(instance)
        self.num_instances += 1
        self.num_wordpieces += len(instance.tokens)
        return encode_instance(instance, self.options)

    def _log_instance(self, instance: TrainingInstance) -> None:
        wordpieces = {
            token: wordpiece for wordpiece, token in self.vocabulary.items()
        }
        text = " ".join(wordpieces[token] for token in instance.tokens)
        logging.debug("*** Example ***\ntokens: %s", text)


def encode_instance(
    instance: TrainingInstance, options: InstanceOptions
) -> bytes:
    """Returns a record with the features of Google's code, padded with zeros.

    If the option `dynamic_masking` is on, the record contains no features whose
    names begin with "masked_lm_". Other options set the features' lengths.
    """
    num_wordpieces = len(instance.tokens)
    num_in_b = num_wordpieces - instance.b_start
    padding = bytes(options.max_seq_length - num_wordpieces)
    features: dict[str, tf_examples.Values] = {
        "input_ids": b"".join(instance.tokens) + padding,
        "input_mask": b"\1" * num_wordpieces + padding,
        "segment_ids": bytes(instance.b_start) + b"\1" * num_in_b + padding,
    }
    if not options.dynamic_masking:
        num_masked = len(instance.positions)
        num_left = options.max_predictions_per_seq - num_masked
        features["masked_lm_positions"] = instance.positions + [0] * num_left
        features["masked_lm_ids"] = b"".join(instance.labels) + bytes(num_left)
        features["masked_lm_weights"] = [1.0] * num_masked + [0.0] * num_left
    features["next_sentence_labels"] = bytes([instance.is_random_next])
    return tf_examples.encode_example(features)
