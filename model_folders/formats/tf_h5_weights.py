"""Opens tf_model.h5, the weights of a model of transformers 4 in TensorFlow.

modeling/checkpoints/converted_checkpoint.py loads them into models.

TensorFlow's classes in transformers 4 wrote such files. A file lists a weight
as LAYER/MODEL/ and its name in the model, such as
`bert/tf_bert_model/bert/encoder/layer_._0/intermediate/dense/kernel:0`. The
files of a model in several shards lack LAYER/MODEL/.
"""

import os
import re
from collections.abc import Mapping

import numpy as np

from files.paths import StrPath
from model_folders.formats.h5_files import open_h5_entries
from model_folders.formats.shards import missing_entry_error, read_shard_paths
from model_folders.formats.weight_entries import (
    WeightArray,
    WeightEntry,
    transposed,
)

WEIGHTS_FILE = "tf_model.h5"
_WEIGHTS_AND_INDEX = (WEIGHTS_FILE, f"{WEIGHTS_FILE}.index.json")
# Matches what precedes the name of a weight, such as LAYER/MODEL/.
_SCOPES = re.compile(
    r"(?s)^.*/"
    r"(?=(?:bert|cls|mlm___cls|nsp___cls|classifier|qa_outputs)/)"
)
# Patterns of names, and their replacements by Google's names.
_REPLACEMENTS = (
    (r":0$", ""),
    (r"^(?:mlm|nsp)___cls/", "cls/"),
    (r"^qa_outputs/", "cls/squad/"),
    (r"/layer_\._(\d+)/", r"/layer_\1/"),
    (r"/((?:word|position|token_type)_embeddings)/\w+$", r"/\1"),
    (r"^cls/predictions/bias$", "cls/predictions/output_bias"),
    (r"^classifier/kernel$", "output_weights"),
    (r"^classifier/bias$", "output_bias"),
    (r"^(cls/seq_relationship|cls/squad)/kernel$", r"\1/output_weights"),
    (r"^(cls/seq_relationship|cls/squad)/bias$", r"\1/output_bias"),
)
# Matches Google's names of the weights of a BERT and of the heads.
_DENSE = "(?:kernel|bias)"
_NORMALIZED = "LayerNorm/(?:gamma|beta)"
_WEIGHT_NAME = re.compile(
    r"bert/embeddings/(?:word_embeddings|position_embeddings"
    rf"|token_type_embeddings|{_NORMALIZED})"
    r"|bert/encoder/layer_\d{1,6}/(?:"
    rf"attention/(?:self/(?:query|key|value)|output/dense)/{_DENSE}"
    rf"|(?:intermediate|output)/dense/{_DENSE}"
    rf"|(?:attention/)?output/{_NORMALIZED})"
    rf"|bert/pooler/dense/{_DENSE}"
    rf"|cls/predictions/(?:output_bias|transform/(?:dense/{_DENSE}"
    rf"|{_NORMALIZED}))"
    r"|(?:cls/(?:seq_relationship|squad)/)?output_(?:weights|bias)"
)


def find_tf_h5_weights(path: StrPath) -> str | None:
    """Returns the file of the weights at a path, None for other formats.

    The file is tf_model.h5, or the index of a model in several files.
    """
    if os.path.basename(path) in _WEIGHTS_AND_INDEX:
        return str(path)
    files = [os.path.join(path, name) for name in _WEIGHTS_AND_INDEX]
    return next(filter(os.path.isfile, files), None)


def open_tf_h5_entries(path: str) -> Mapping[str, WeightEntry]:
    """Returns {Google's name: WeightEntry} of a tf_model.h5.

    Args:
        path: result of `find_tf_h5_weights`.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file refers to other files, or contains a weight that
            neither a BERT nor one of the heads has. The message names the
            first such weight, and its shape.
    """
    entries: dict[str, WeightEntry] = {}
    for stored, entry in _open_stored(path).items():
        # A name that is not UTF-8 is of the type bytes.
        name = tf_h5_to_google(str(stored))
        if name is None:
            raise ValueError(
                f"{path} contains {stored!r} with shape {list(entry.shape)}, "
                "which is no weight of a BERT or of a head that transformers "
                "has. Save the encoder alone with TFBertModel.save_pretrained, "
                "and use its folder"
            )
        if name.endswith("/output_weights") or name == "output_weights":
            entry = transposed(entry)
        if name in entries:
            # Each layer lists the weights that it shares with another layer.
            entry = _merge_equal_entries(path, stored, entries[name], entry)
        entries[name] = entry
    return entries


def _open_stored(path: str) -> dict[str, WeightEntry]:
    """Returns {name in the file: entry}.

    If `path` is an index, these are the entries of all files in it.
    """
    if not path.endswith(".index.json"):
        return open_h5_entries(path)
    files: dict[str, dict[str, WeightEntry]] = {}
    entries = {}
    for name, file in read_shard_paths(path, ".h5").items():
        if file not in files:
            files[file] = open_h5_entries(file)
        # The index lists MODEL/ before the names, the files do not.
        stored = name if name in files[file] else name.partition("/")[2]
        if stored not in files[file]:
            raise missing_entry_error(file, name, path)
        entries[stored] = files[file][stored]
    return entries


def _merge_equal_entries(
    path: str, stored: str, first: WeightEntry, second: WeightEntry
) -> WeightEntry:
    """Returns the entry of a weight that a file contains twice.

    The two values must be equal, because the model uses one value for both.
    """
    different = ValueError(
        f"{path} contains {stored!r} twice, with different values, but BERT "
        "shares this weight. Save the model again"
    )
    if first[:2] != second[:2]:
        raise different

    def read() -> WeightArray:
        value = first.read()
        if not np.array_equal(value, second.read(), equal_nan=True):
            raise different
        return value

    return first._replace(read=read)


def tf_h5_to_google(stored: str) -> str | None:
    """Returns Google's name of a weight, None if no BERT or head has it.

    Args:
        stored: name in the file, such as
            `bert/tf_bert_model/bert/encoder/layer_._0/output/dense/kernel:0`.
    """
    name = _SCOPES.sub("", stored)
    for pattern, replacement in _REPLACEMENTS:
        name = re.sub(pattern, replacement, name)
    return name if _WEIGHT_NAME.fullmatch(name) else None
