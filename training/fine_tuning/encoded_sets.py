"""Writes the sets of a task as TFRecord files, and identifies the sets."""

import atexit
import glob
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence

from absl import logging

from data.arrays import OutputsT
from data.io import feature_specs, record_datasets
from data.io.file_checksums import compute_crc32
from data.io.tfrecords import RecordWriter
from data.sets.set_names import SetName, file_stem_of, is_base_set
from files.paths import StrPath
from terminal.progress import track
from training.config.fine_tuning_config import FineTuningConfig
from training.dev_set.set_fingerprints import SetFingerprint
from training.task import (
    AnyEncodedSets,
    AnyFineTuningTask,
    ContextT,
    EncodedSet,
    ExampleT,
    FineTuningTask,
)


def write_encoded_sets(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
    folder: StrPath,
) -> dict[SetName, EncodedSet[ExampleT, ContextT]]:
    """Reads the sets that a command needs, then writes their records.

    Args:
        task: reads and encodes the examples.
        folder: folder for the records of the chief. Another worker writes its
            records to a temporary folder, which is removed when its process
            ends.

    Returns:
        {name of a set: the set}, without the sets that the task skips.

    Raises:
        ValueError: a line is malformed.
        OSError: a file is missing or cannot be written.
    """
    # Read all sets first, so that a malformed line shows before any encoding.
    examples_of_set = _take_examples_of_sets(task)
    if not task.config.is_chief:
        folder = _create_temporary_folder()
    os.makedirs(folder, exist_ok=True)
    encoded_sets = {}
    for set_name in [*examples_of_set]:
        # Hand the examples over, so that those to train on take no memory once
        # their records are written. The EncodedSet holds those to evaluate.
        encoded_sets[set_name] = _write_encoded_set(
            task, set_name, examples_of_set.pop(set_name), folder
        )
    return encoded_sets


def _take_examples_of_sets(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
) -> dict[SetName, Sequence[ExampleT]]:
    """Returns {name of a set: its examples} of the sets of a command."""
    examples_of_set: dict[SetName, Sequence[ExampleT]] = {}
    for set_name in _list_set_names(task):
        examples = task.take_examples(set_name)
        if examples is not None:
            examples_of_set[set_name] = examples
    return examples_of_set


def _list_set_names(task: AnyFineTuningTask) -> list[SetName]:
    """Returns the names of the sets that a command needs."""
    config = task.config
    set_names: list[SetName] = []
    if config.training.do_train:
        set_names.append("train")
    if config.evaluates:
        set_names += task.dev_sets
    if config.fine_tuning.do_predict:
        set_names += task.test_sets
    # Name a set once, because SQuAD evaluates and predicts the same set.
    return [*dict.fromkeys(set_names)]


def _create_temporary_folder() -> str:
    """Creates a folder that is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="records-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write_encoded_set(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
    set_name: SetName,
    examples: Sequence[ExampleT],
    folder: StrPath,
) -> EncodedSet[ExampleT, ContextT]:
    """Encodes the examples of a set, and writes them as a TFRecord file."""
    path = os.path.join(folder, f"{file_stem_of(set_name)}.tf_record")
    checksum = 0
    decoding_contexts: list[ContextT] = []
    with RecordWriter([path]) as writer:
        encoded = task.encode(set_name, examples)
        for record, decoding_context in track(encoded, description="Writing"):
            writer.write(record)
            checksum += zlib.crc32(record)
            if set_name != "train":
                decoding_contexts.append(decoding_context)
    bert_config = task.starting_point.bert_config
    spec = feature_specs.with_id_bounds(
        dict(task.feature_spec(set_name)),
        bert_config.vocab_size,
        bert_config.type_vocab_size,
    )
    logging.info(
        "The %s set: %d examples in %d records",
        set_name,
        len(examples),
        writer.num_records,
    )
    return EncodedSet(
        name=set_name,
        records=record_datasets.Records([path], spec),
        num_examples=len(examples),
        num_records=writer.num_records,
        checksum=checksum,
        examples=() if set_name == "train" else examples,
        decoding_contexts=decoding_contexts,
    )


def fingerprint_sets(
    config: FineTuningConfig, encoded_sets: AnyEncodedSets
) -> dict[str, SetFingerprint]:
    """Identifies the sets of a command, for model.json and the card.

    If a set is one file, which a flag names or which is alone in --data_dir,
    this function reads the file for its checksum. Otherwise the checksum is
    that of the records.

    Args:
        config: names the files of the sets.
        encoded_sets: result of `write_encoded_sets`.

    Returns:
        {name in model.json: SetFingerprint}.

    Raises:
        OSError: a file cannot be read.
    """
    set_fingerprints = {}
    # Two sets may be of one file, --data_file.
    checksum_of_file: dict[str, int] = {}
    for set_name, encoded_set in encoded_sets.items():
        recorded_name = file_stem_of(set_name)
        if file := _find_only_file(config, set_name):
            name = os.path.basename(file)
            if file not in checksum_of_file:
                checksum_of_file[file] = compute_crc32(file)
            checksum = checksum_of_file[file]
        else:
            folder = config.fine_tuning.data_dir or recorded_name
            folder_name = os.path.basename(os.path.normpath(folder))
            name = f"{folder_name}/{recorded_name}"
            checksum = encoded_set.checksum
        set_fingerprints[recorded_name] = SetFingerprint(
            recorded_name, name, encoded_set.num_examples, checksum
        )
    return set_fingerprints


def _find_only_file(config: FineTuningConfig, set_name: SetName) -> str | None:
    """Returns the file of a set, None if the set has several or none."""
    files = config.files_of(set_name)
    if not files and config.fine_tuning.data_dir and is_base_set(set_name):
        folder = glob.escape(config.fine_tuning.data_dir)
        files = glob.glob(os.path.join(folder, f"{set_name}[.]*"))
    is_only_file = len(files) == 1 and os.path.isfile(files[0])
    return files[0] if is_only_file else None


def select_sets(
    encoded_sets: Mapping[SetName, EncodedSet[ExampleT, ContextT]],
    set_names: Iterable[SetName],
) -> list[EncodedSet[ExampleT, ContextT]]:
    """Returns the sets of these names that were read."""
    return [encoded_sets[name] for name in set_names if name in encoded_sets]
