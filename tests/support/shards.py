"""Creates shards of pretraining records as at scale, and reads them.

For example:

    features = read_shards(create_shards(tmp_path, num_shards=3))
"""

import functools
import hashlib
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tensorflow as tf
from numpy.typing import NDArray

from data.io import feature_specs, record_datasets, tfrecords
from data.parallel_jobs import workers
from data.pretraining import sharded_writing
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.record_manifests import RecordManifest
from data.text import tokenization
from files.paths import StrPath
from tests.support.paths import ROOT

_GOLDEN = ROOT / "tests/testdata/golden"
VOCAB = str(_GOLDEN / "vocab/uncased.txt")
CORPUS = sorted(map(str, (_GOLDEN / "pretraining_data/corpus").glob("*.txt")))


def create_data_config(output_file: str, **flags: Any) -> PretrainingDataConfig:
    """Returns the flags of a command that reads the corpus once."""
    return PretrainingDataConfig.from_values(
        output_file=output_file,
        **{
            "input_file": ",".join(CORPUS),
            "vocab_file": VOCAB,
            "dupe_factor": 1,
        }
        | flags,
    )


def create_shards(
    tmp_path: Path,
    input_files: str | bytes | Iterable[StrPath] = CORPUS,
    num_processes: int = 1,
    **options: Any,
) -> RecordManifest:
    """Creates shards in a folder. Returns their manifest.

    `input_files` are paths, or the text of a corpus to write to corpus.txt.
    """
    if isinstance(input_files, str | bytes):
        corpus = input_files
        corpus = corpus.encode() if isinstance(corpus, str) else corpus
        path = tmp_path / "corpus.txt"
        path.write_bytes(corpus)
        input_files = [path]
    num_shards = options.pop("num_shards", 3)
    options = {
        "vocab_file": VOCAB,
        "max_seq_length": 64,
        "max_predictions_per_seq": 10,
        "dupe_factor": 3,
        **options,
    }
    job = sharded_writing.InstanceJob(
        options=InstanceOptions(**options),
        input_files=[*map(str, input_files)],
        output_file=str(tmp_path / "out"),
        num_shards=num_shards,
    )
    unit_runner = functools.partial(
        workers.run_in_processes, num_processes=num_processes
    )
    return job.run(unit_runner).manifest


def create_header(length: int) -> bytes:
    """Returns the header of a TFRecord, which may lie about its length."""
    packed = struct.pack("<Q", length)
    # A header ends like a record: with the checksum of what is before.
    return packed + tfrecords.frame_record(packed)[-4:]


def write_documents(path: Path, number: int, num_lines: int) -> set[int]:
    """Writes documents that each repeat a word. Returns the words' ids."""
    vocab = tokenization.FullTokenizer(VOCAB).vocab
    words = [word for word in vocab if word.isascii() and word.isalpha()]
    words = words[-number:]
    path.write_text("\n".join(f"{word} {word}\n" * num_lines for word in words))
    return {vocab[word] for word in words}


def read_checksums(manifest: RecordManifest) -> list[str]:
    """Returns the checksum of each shard."""
    checksums = []
    for shard in manifest["shards"]:
        with open(shard["path"], "rb") as file:
            checksums.append(hashlib.sha256(file.read()).hexdigest())
    return checksums


def read_shards(
    manifest: RecordManifest, spec: feature_specs.RecordSpec | None = None
) -> dict[str, NDArray[Any]]:
    """Returns {feature: array} of the records of all shards."""
    serialized = [
        record
        for shard in manifest["shards"]
        for record in tfrecords.read_records(shard["path"])
    ]
    features = record_datasets.decode_batch(
        tf.constant(serialized),
        spec or feature_specs.pretraining_spec(64, 10),
    )
    return {name: value.numpy() for name, value in features.items()}
