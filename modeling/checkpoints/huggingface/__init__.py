"""Reads and writes BERT as Hugging Face's transformers stores it.

The tensors of its `model.safetensors` carry other names, and a dense kernel is
stored transposed. opening.py opens files of weights, pickled.py older models'
`pytorch_model.bin`, and config.py and tokenizer.py read the other files.
"""

import json
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import safetensors
import safetensors.numpy

from files.atomic import write_text
from files.labels import check_labels
from modeling.checkpoints.huggingface.config import (
    CONFIG_FILE,
    config_to_huggingface,
)
from modeling.checkpoints.huggingface.opening import open_tensors
from modeling.checkpoints.huggingface.tokenizer import (
    find_pad_id,
    write_tokenizer,
)
from modeling.checkpoints.labels import default_labels
from modeling.checkpoints.names import (
    original_name,
    source_name,
    without_scope,
)
from modeling.checkpoints.restore import LoadReport, restore_variables
from modeling.checkpoints.staging import staged_folder

WEIGHTS_FILE = "model.safetensors"
# The files that are read, the first that is there; an index says which of
# several files holds a tensor.
_FILES = (
    WEIGHTS_FILE,
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
# Also such as model.fp16.safetensors and pytorch_model.fp16.bin.
_IS_WEIGHTS = re.compile(
    r"\.safetensors(?:\.index\.json)?$"
    r"|(?:^|[/\\])pytorch_model[^/\\]*\.bin(?:\.index\.json)?$"
)

# theirs: NumPy's; other types hold no weights.
_DTYPES = {
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
}
# The scope must not be of a network that is no BERT, such as `roberta.`.
_WORD_EMBEDDINGS = re.compile(
    r"((?:.+?\.)??)(?<!\wbert\.)(?<!berta\.)(?<!electra\.)"
    r"(?:bert\.)?embeddings\.word_embeddings\.weight"
)
# ours: theirs. The heads whose names follow no rule.
_HEADS = {
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/seq_relationship/output_bias": "cls.seq_relationship.bias",
    "cls/squad/output_weights": "qa_outputs.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
    "output_weights": "classifier.weight",
    "output_bias": "classifier.bias",
}
# The masked LM's output layer: what its entries are copies of.
_DECODER = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
# ours: theirs.
CLASSES = {
    "BertModel": "BertModel",
    "BertPretrainer": "BertForPreTraining",
    "BertClassifier": "BertForSequenceClassification",
    "BertTokenClassifier": "BertForTokenClassification",
    "BertSpanLabeler": "BertForQuestionAnswering",
    "BertMultipleChoice": "BertForMultipleChoice",
}
# theirs: ours.
ARCHITECTURES = {theirs: ours for ours, theirs in CLASSES.items()}
ARCHITECTURES["BertForMaskedLM"] = "BertPretrainer"


def _huggingface_name(name: str) -> str:
    """Returns Hugging Face's name for one of the original's."""
    if name in _HEADS:
        return _HEADS[name]
    name = re.sub(r"/layer_(\d+)/", r"/layer/\1/", name)
    name = re.sub(r"/(?:kernel|gamma)$", "/weight", name)
    name = re.sub(r"/beta$", "/bias", name)
    name = re.sub(r"_embeddings$", "_embeddings/weight", name)
    return name.replace("/", ".")


def is_huggingface(path: str | os.PathLike[str]) -> bool:
    """Returns whether `path` is a file of weights or a folder with some.

    Such a file is called NAME.safetensors or pytorch_model.bin.
    """
    return bool(_IS_WEIGHTS.search(str(path))) or any(
        os.path.isfile(os.path.join(path, name)) for name in _FILES
    )


def find_huggingface(path: str | os.PathLike[str]) -> str:
    """Returns the file of weights that `path` names, or their index.

    Raises:
        FileNotFoundError: there is no such file.
    """
    path = str(path)
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in _FILES]
        path = next(filter(os.path.isfile, files), files[0])
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"There is no file {path}; use the path of one on this machine, "
            "nothing is downloaded"
        )
    return path


def read_huggingface_shapes(
    path: str | os.PathLike[str],
) -> dict[str, Sequence[int]]:
    """Returns {Hugging Face's name: shape}; see `modeling.read_shapes`."""
    with open_tensors(path) as file:
        names = without_scope(file.keys(), _WORD_EMBEDDINGS)
        return {
            name: file.get_slice(stored).get_shape()
            for name, stored in names.items()
        }


def load_huggingface(
    model: keras.Model,
    path: str | os.PathLike[str],
    layers: Sequence[int] | None = None,
) -> LoadReport:
    """Loads the weights of a Hugging Face BERT; see `load_checkpoint`.

    The report has the original's names, but `unused` has Hugging Face's. The
    pooler may be missing, as models for masked words or questions have none.
    """
    path = find_huggingface(path)
    if not model.built:
        model.build()
    # A block that several blocks start from is read once.
    names = dict.fromkeys(
        source_name(original_name(weight), layers) for weight in model.weights
    )
    shapes: dict[str, list[int]] = {}
    dtypes = {}
    with open_tensors(path) as file:
        scopeless = without_scope(file.keys(), _WORD_EMBEDDINGS)
        stored_names = {_normalize(name): scopeless[name] for name in scopeless}
        if any(name.startswith("cls/predictions/") for name in names):
            _check_decoder(path, file, stored_names)
        sources = {
            name: stored_names.pop(theirs)
            for name in names
            if (theirs := _huggingface_name(name)) in stored_names
        }
        for name, their_name in sources.items():
            entry = file.get_slice(their_name)
            shape, dtype = entry.get_shape(), entry.get_dtype()
            shapes[name] = shape[::-1] if name.endswith("/kernel") else shape
            dtypes[name] = _DTYPES.get(dtype, dtype)
        for name in stored_names.values():
            # Do not report position_ids (constants) and the decoder (a copy of
            # tied weights) as unused.
            if not re.search(r"position_ids$|predictions\.decoder\.", name):
                shapes[name] = []

        def read(name: str) -> np.ndarray:
            tensor = file.get_tensor(sources[name])
            return tensor.T if name.endswith("/kernel") else tensor

        return restore_variables(model, path, shapes, dtypes, read, layers)


def _check_decoder(path: str, file: Any, stored_names: dict[str, str]) -> None:
    """Refuses a masked LM head that does not share the word embeddings.

    Tied weights may be stored twice; here each copy must equal the first, or
    stands for one that is missing.
    """
    for copy, shared in _DECODER.items():
        if copy not in stored_names:
            continue
        if shared not in stored_names:
            stored_names[shared] = stored_names.pop(copy)
        elif not np.array_equal(
            file.get_tensor(stored_names[copy]),
            file.get_tensor(stored_names[shared]),
        ):
            raise ValueError(
                f"{path}: {copy} differs from {shared} (tie_word_embeddings "
                "is false there). BERT's masked LM head shares them, so this "
                "head cannot be used; the encoder can, under another task"
            )


def _normalize(name: str) -> str:
    """Returns a tensor's name as current versions of transformers write it.

    A model saved without a head lacks the prefix `bert.`, and old files call a
    normalization's weights gamma and beta.
    """
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    name = name.replace("LayerNorm.beta", "LayerNorm.bias")
    if re.match(r"(?:embeddings|encoder|pooler)\.", name):
        return f"bert.{name}"
    return name


def save_huggingface(
    model: keras.Model,
    directory: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    tokenizer: Any = None,
    leave_out: Collection[str] = (),
    problem_type: str | None = None,
    max_length: int | None = None,
    files: Mapping[str, str] | None = None,
) -> None:
    """Writes a folder that transformers reads.

    It holds model.safetensors and config.json and, given a tokenizer, its
    files: vocab.txt, tokenizer.json, tokenizer_config.json and
    special_tokens_map.json. They appear together or not at all. Without a
    vocabulary transformers silently makes a tokenizer of five WordPieces.

    Args:
        model: any model here.
        directory: folder to write into; created if missing.
        labels: names of a classifier's outputs in order;
            None = LABEL_0, LABEL_1, ...
        tokenizer: FullTokenizer of the model, or None.
        leave_out: original names of weights not to write, such as those of the
            next sentence head.
        problem_type: how transformers makes scores of a classifier's outputs,
            such as "multi_label_classification"; None = by its own rules.
        max_length: longest input of its tokenizer, in WordPieces; None = as
            many as the model has positions.
        files: {name: text} of more files, such as model.json.

    Raises:
        ValueError: the model is of another class or not built, or `labels` or
            the vocabulary do not belong to it.
        OSError: a file cannot be written.
    """
    values = config_entries(model, labels, leave_out)
    if problem_type:
        values["problem_type"] = problem_type
    if tokenizer:
        values["pad_token_id"] = find_pad_id(tokenizer, model.config.vocab_size)
    with staged_folder(directory, last=WEIGHTS_FILE) as stage:
        config_file = os.path.join(stage, CONFIG_FILE)
        write_text(
            config_file, json.dumps(values, indent=2, sort_keys=True) + "\n"
        )
        if tokenizer:
            longest = max_length or model.config.max_position_embeddings
            write_tokenizer(stage, tokenizer, longest)
        for name, text in (files or {}).items():
            write_text(os.path.join(stage, name), text)
        weights_file = os.path.join(stage, WEIGHTS_FILE)
        try:
            safetensors.numpy.save_file(
                _create_tensors(model, leave_out),
                weights_file,
                metadata={"format": "pt"},
            )
        except safetensors.SafetensorError as error:
            path = os.path.join(directory, WEIGHTS_FILE)
            raise OSError(f"{path} cannot be written: {error}") from error
        # safetensors makes a file that only its owner can read.
        shutil.copymode(config_file, weights_file)


def config_entries(
    model: keras.Model,
    labels: Sequence[str] | None,
    leave_out: Collection[str] = (),
) -> dict[str, Any]:
    """Returns the entries of a model's config.json; see `save_huggingface`."""
    class_name = type(model).__name__
    if class_name not in CLASSES or not model.built:
        raise ValueError(
            "Only a built model of one of the classes "
            f"{sorted(CLASSES)} can be saved for transformers. "
            f"Received: {'a built' if model.built else 'an unbuilt'} "
            f"{class_name}"
        )
    values = config_to_huggingface(model.config)
    architecture = CLASSES[class_name]
    if "cls/seq_relationship/output_weights" in leave_out:
        architecture = "BertForMaskedLM"
    values["architectures"] = [architecture]
    if hasattr(model, "num_labels"):
        labels = default_labels(model.num_labels) if labels is None else labels
        check_labels(labels, num_labels=model.num_labels)
        values["id2label"] = {str(i): name for i, name in enumerate(labels)}
        values["label2id"] = {name: i for i, name in enumerate(labels)}
    return values


def _create_tensors(
    model: keras.Model, leave_out: Collection[str]
) -> dict[str, np.ndarray]:
    """Returns the model's weights as transformers names and lays them out."""
    tensors = {}
    for weight in model.weights:
        name = original_name(weight)
        if name in leave_out:
            continue
        value = np.asarray(weight)
        if name.endswith("/kernel"):
            value = value.T
        their_name = _huggingface_name(name)
        if type(model).__name__ == "BertModel":
            their_name = their_name.removeprefix("bert.")
        tensors[their_name] = np.ascontiguousarray(value)
    return tensors
