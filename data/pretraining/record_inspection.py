"""Fingerprints files of pretraining records, reads their masking and lengths.

The manifest that create_pretraining_data.py wrote beside the files contains
their checksums. Files without a manifest are read.
"""

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import google_crc32c

from data.io import text_files, tf_examples, tfrecords
from data.parallel_jobs.job_files import MANIFEST_ENDING
from data.pretraining.record_manifests import RecordManifest
from files.json_files import parse_json
from model_folders.fingerprints import RecordFileFingerprint
from terminal import progress

_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
# Size of the checksum at the end of a record, and so of a file.
_FOOTER_SIZE = 4


def are_masked(files: Sequence[str]) -> bool:
    """Returns whether pretraining records contain masks.

    Records that create_pretraining_data.py wrote with --dynamic_masking contain
    no masks. The function reads only the first record.

    To read records without masks, training needs a vocabulary. Files that are
    empty, or that contain no records for pretraining, count as masked. So the
    user is not asked for a vocabulary that would not help, and
    `record_checks.check_records` says what is wrong with the files.
    """
    all_records = itertools.chain.from_iterable(
        map(tfrecords.read_records, files)
    )
    try:
        names = {*tf_examples.feature_lengths(next(all_records, b""))}
    except ValueError:
        names = set()
    is_unmasked = "input_ids" in names and "masked_lm_positions" not in names
    return not is_unmasked


class MaskingAndLengths(NamedTuple):
    """The form of the records of some files.

    Attributes:
        are_masked: whether the records contain masks.
        lengths: {name of a flag: length of the records}. The flags are
            "max_seq_length" and "max_predictions_per_seq", unless nothing shows
            their length.
    """

    are_masked: bool
    lengths: dict[str, int]


def read_masking_and_lengths(files: Sequence[str]) -> MaskingAndLengths:
    """Reads the form of records from the first record, and from the manifest.

    For records without masks, only a manifest shows the length
    "max_predictions_per_seq". Files without records have no lengths.

    Args:
        files: paths of the files, whose records have the same lengths.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file does not contain TFRecords.
    """
    for path in files:
        record = next(tfrecords.read_records(path), None)
        if record is None:
            continue
        try:
            lengths = tf_examples.feature_lengths(record)
        except ValueError as error:
            raise ValueError(f"{path}, record 0: {error}") from error
        manifest = _read_manifest(_find_manifest(path))
        flags = manifest.get("flags", {}) if manifest else {}
        flag_lengths = {
            "max_seq_length": lengths.get("input_ids"),
            "max_predictions_per_seq": lengths.get(
                "masked_lm_positions", flags.get("max_predictions_per_seq")
            ),
        }
        return MaskingAndLengths(
            are_masked="masked_lm_positions" in lengths,
            lengths={
                name: length for name, length in flag_lengths.items() if length
            },
        )
    return MaskingAndLengths(are_masked=False, lengths={})


def _find_manifest(path: str) -> str | None:
    """Returns the path of the manifest beside a file of records.

    The manifest of NAME-00000-of-00004 and of eval-NAME is NAME.manifest.json.
    """
    folder, name = os.path.split(path)
    name = _SHARD.sub("", name)
    for stem in (name, name.removeprefix("eval-")):
        file = os.path.join(folder, f"{stem}{MANIFEST_ENDING}")
        if text_files.is_file(file):
            return file
    return None


def _read_manifest(file: str | None) -> RecordManifest | None:
    if file is None:
        return None
    with text_files.open_binary(file) as reader:
        # create_pretraining_data.py wrote the file.
        return cast("RecordManifest", parse_json(reader.read(), file))


def fingerprint_records(files: Iterable[str]) -> list[RecordFileFingerprint]:
    """Returns a fingerprint of each file of records.

    The fingerprint distinguishes the file from other files of the same name.
    Name, size and time are not enough, because archives, images and copies set
    them.

    If a manifest lists the file, the function takes the file's checksum from
    the manifest. It reads only the first and the last record, whose checksums
    show if other records replaced those in the manifest. Files that no manifest
    lists are read and checked.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is truncated or does not contain records.
    """
    fingerprints: list[RecordFileFingerprint] = []
    # {path of a manifest: {name of a file: its entry}}
    manifests: dict[str | None, dict[str, tfrecords.ShardEntry]] = {}
    for path in files:
        name, size = os.path.basename(path), text_files.file_size(path)
        manifest = _find_manifest(path)
        if manifest not in manifests:
            manifests[manifest] = _list_entries(_read_manifest(manifest))
        entry = manifests[manifest].get(name)
        if entry and entry.get("bytes") == size:
            checksum_and_ends = [entry["crc32c"], *_read_ends(path, size)]
        else:
            checksum_and_ends = _compute_checksums(path)
        fingerprints.append(
            RecordFileFingerprint(name, size, *checksum_and_ends)
        )
    return fingerprints


def _list_entries(
    manifest: RecordManifest | None,
) -> dict[str, tfrecords.ShardEntry]:
    """Returns {name of a shard: its entry}."""
    if manifest is None:
        return {}
    entries = [*manifest.get("shards", []), *manifest.get("eval_shards", [])]
    return {os.path.basename(entry["path"]): entry for entry in entries}


def _read_ends(path: str, size: int) -> list[str]:
    """Returns the checksums of the first and the last record."""
    if not size:
        return ["", ""]
    # A record ends in its checksum.
    first = next(tfrecords.read_records(path))
    with text_files.open_binary(path) as file:
        file.seek(size - _FOOTER_SIZE)
        last = file.read()
    return [
        tfrecords.frame_record(first)[-_FOOTER_SIZE:].hex(),
        last.hex(),
    ]


def _compute_checksums(path: str) -> list[str]:
    """Returns the checksums of a file and of its first and last record.

    Checks the records in the same pass, because TensorFlow crashes if a record
    is shorter than its header says.
    """
    checksum = google_crc32c.Checksum()
    ends = ["", ""]
    tracked_records = progress.track(
        tfrecords.read_records(path),
        description=f"Reading {os.path.basename(path)} for its checksum:",
    )
    for record in tracked_records:
        framed = tfrecords.frame_record(record)
        checksum.update(framed)
        ends[1] = framed[-_FOOTER_SIZE:].hex()
        ends[0] = ends[0] or ends[1]
    return [checksum.hexdigest().decode(), *ends]
