"""Describes the files in the folder of a run or an export, for its card."""

import fnmatch
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from model_folders.cards import markdown
from model_folders.labels import LABELS_FILE
from model_folders.scores import DEV_RESULTS, EXPORT_RESULTS

# {pattern of files in the folder of a run or an export: what they contain}
_PURPOSE_OF_FILES = {
    DEV_RESULTS: "the scores of the dev set",
    "test_eval_results*.txt": "the scores of the test set",
    "report*.html": "the examples that the model got wrong, the worst first",
    "*predictions*": "the examples with the model's answers",
    "test_results*.tsv": "the model's outputs for the test set",
    EXPORT_RESULTS: "the scores of each exported file",
    "history.jsonl": "losses, scores and speed during the training",
    "best": "the weights of the best step, with the files that describe them",
    "model.ckpt-*": "the weights of the last steps",
    "saved_model.pb": "the network, for TensorFlow (`tf.saved_model.load`)",
    "variables": "the network's weights, for TensorFlow",
    "model.tflite": "the network with its weights, for LiteRT",
    "onnx": "the network with its weights, for ONNX Runtime",
    "assets": "empty, created by TensorFlow",
    "fingerprint.pb": "a checksum, created by TensorFlow",
    "assets.extra": "the vocabulary, the labels and the settings",
    "vocab.txt": "the vocabulary",
    LABELS_FILE: "the labels, in the order of the model's outputs",
    "*config.json": "the sizes of the network, and the tokenizer's settings",
    "tokenizer.json": "the tokenizer, for other libraries",
    "model.json": "all flags and settings, which the scripts compare and read",
    "checkpoint": "the names of the checkpoints, for TensorFlow",
    "state": "records, TensorBoard's events and the lock of a running command",
}


def file_sizes(folder: os.PathLike[str]) -> dict[str, int]:
    """Returns {name: bytes} of the files and folders in a folder."""
    sizes = dict[str, int]()
    for path in sorted(Path(folder).iterdir()):
        parts = path.rglob("*") if path.is_dir() else [path]
        sizes[path.name] = sum(
            part.stat().st_size for part in parts if part.is_file()
        )
    return sizes


def list_file_rows(
    sizes: Mapping[str, int],
) -> Iterator[tuple[Sequence[str], str, float]]:
    """Yields (names of files, what the files contain, their size in MB).

    `sizes` is {name: bytes}. A file of unknown contents is in no row.
    """
    for pattern, purpose in _PURPOSE_OF_FILES.items():
        if names := fnmatch.filter(sizes, pattern):
            num_mb = sum(sizes[name] for name in names) / 1e6
            short = dict.fromkeys(map(_checkpoint_of, names))
            yield [*short], markdown.Markdown(purpose), num_mb


def _checkpoint_of(file: str) -> str:
    """Returns the name under which a card lists a file.

    A checkpoint consists of several files, which are shown as one.
    """
    name, _, ending = file.rpartition(".")
    if ending == "index" or ending.startswith("data-"):
        return f"{name}.*"
    return file
