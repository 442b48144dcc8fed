"""Writes the splits of a task as TFRecord files."""

import glob
import json
import os
import tempfile
import zlib
from collections.abc import Sequence

from absl import logging

from command_line.progress import track
from data.io import feature_specs, record_datasets
from data.io.tfrecord_files import RecordWriter
from data.processors.split_names import SET_OF_PURPOSE, Purpose, is_purpose
from files.paths import StrPath
from model_folders.recorded_sets import RecordedSet
from training.config.fine_tuning_config import FineTuningConfig
from training.run import fingerprints
from training.task import (
    ExampleT,
    OriginT,
    OutputsT,
    Split,
    Splits,
    Task,
)


def write_splits(
    task: Task[ExampleT, OriginT, OutputsT], folder: StrPath
) -> dict[str, Split[ExampleT, OriginT]]:
    """Reads the splits that a command needs, then writes their records.

    Args:
        task: reads and encodes the examples.
        folder: folder for the records of the chief. Other workers write theirs
            to a temporary folder.

    Raises:
        ValueError: a line is malformed.
        OSError: a file is missing or cannot be written.
    """
    config = task.config
    # A split may have two purposes.
    split_names = dict.fromkeys(
        split_name
        for purpose in config.purposes
        for split_name in task.splits[purpose]
    )
    examples = {
        split_name: split_examples
        for split_name in split_names
        if (split_examples := task.read_examples(split_name)) is not None
    }
    if not config.is_chief:
        folder = tempfile.mkdtemp(prefix="records-")
    os.makedirs(folder, exist_ok=True)
    # Remove each split from `examples`, so that the memory of the training
    # examples is freed once their records are written.
    return {
        split_name: _write_split(
            task, split_name, examples.pop(split_name), folder
        )
        for split_name in [*examples]
    }


def _write_split(
    task: Task[ExampleT, OriginT, OutputsT],
    split_name: str,
    examples: Sequence[ExampleT],
    folder: StrPath,
) -> Split[ExampleT, OriginT]:
    """Encodes the examples of a split, and writes them as a TFRecord file."""
    path = os.path.join(folder, f"{split_name}.tf_record")
    checksum = 0
    origins: list[OriginT] = []
    with RecordWriter([path]) as writer:
        encoded = task.encode(split_name, examples)
        for record, origin in track(encoded, description="Writing"):
            writer.write(record)
            checksum += zlib.crc32(record)
            if split_name != "train":
                origins.append(origin)
    bert_config = task.start.bert_config
    spec = feature_specs.with_id_bounds(
        dict(task.feature_spec(split_name)),
        bert_config.vocab_size,
        bert_config.type_vocab_size,
    )
    logging.info(
        "The %s set: %d examples in %d records",
        split_name,
        len(examples),
        writer.num_records,
    )
    return Split(
        name=split_name,
        records=record_datasets.Records([path], spec),
        num_examples=len(examples),
        num_records=writer.num_records,
        checksum=checksum,
        examples=() if split_name == "train" else examples,
        origins=origins,
    )


def create_recorded_sets(
    config: FineTuningConfig, splits: Splits[ExampleT, OriginT]
) -> dict[str, RecordedSet]:
    """Returns {split name: its RecordedSet}, for model.json and the card.

    The checksum is of the file that the user named, or that is the only file
    of the split in --data_dir, and else of the records.
    """
    recorded_sets = {}
    for split_name, split in splits.items():
        if file := _find_only_file(config, split_name):
            name = os.path.basename(file)
            _, checksum = fingerprints.size_and_checksum(file)
        else:
            data = config.fine_tuning.data_dir or split_name
            name = f"{os.path.basename(os.path.normpath(data))}/{split_name}"
            checksum = split.checksum
        recorded_sets[split_name] = RecordedSet(
            split_name, name, split.num_examples, checksum
        )
    return recorded_sets


def _find_only_file(config: FineTuningConfig, split_name: str) -> str | None:
    """Returns the file of a split, None if the split has several or none."""
    files = config.files_of(split_name)
    if not files and config.fine_tuning.data_dir and is_purpose(split_name):
        pattern = os.path.join(
            glob.escape(config.fine_tuning.data_dir), SET_OF_PURPOSE[split_name]
        )
        files = glob.glob(f"{pattern}[.]*")
    is_only_file = len(files) == 1 and os.path.isfile(files[0])
    return files[0] if is_only_file else None


def splits_of(
    task: Task[ExampleT, OriginT, OutputsT],
    splits: Splits[ExampleT, OriginT],
    purpose: Purpose,
) -> list[Split[ExampleT, OriginT]]:
    """Returns the splits that were read for a purpose."""
    return [splits[name] for name in task.splits[purpose] if name in splits]


def dev_set_checksum(
    task: Task[ExampleT, OriginT, OutputsT], splits: Splits[ExampleT, OriginT]
) -> int:
    """Returns a checksum of all that the dev set's scores depend on, or 0."""
    dev_splits = splits_of(task, splits, "eval")
    if not dev_splits:
        return 0
    scored = [
        [split.checksum for split in dev_splits],
        list(task.labels or ()),
        *fingerprints.fingerprint_files(task.eval_files),
    ]
    return zlib.crc32(json.dumps(scored).encode())
