"""Converts between a Hugging Face config.json and a `BertConfig`.

In config.json, "gelu" is the exact function. In `BertConfig`, "gelu" is
Google's tanh approximation.
"""

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from files.json_files import read_json
from files.paths import StrPath
from modeling.config import ACTIVATIONS, BertConfig
from modeling.kinds import (
    ARCHITECTURES,
    KINDS,
    PROBLEM_TYPES,
    THEIR_MASKED_LM,
    THEIR_NEXT_SENTENCE,
    TOKEN_CLASSIFIER,
    kind_of,
)
from modeling.labels import check_labels
from modeling.tokenizer_files import Tokenizer

if TYPE_CHECKING:
    import keras

CONFIG_FILE = "config.json"

# {activation in config.json: activation in `BertConfig`}. If several names mean
# the same activation, config_entries writes the last.
_ACTIVATIONS = {
    "gelu_python": "gelu_erf",
    "gelu": "gelu_erf",
    "gelu_accurate": "gelu",
    "gelu_fast": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "gelu_new": "gelu",
    "swish": "silu",
    **{name: name for name in ACTIVATIONS if "gelu" not in name},
}
# Default values in transformers.
_DEFAULTS = {
    "hidden_act": "gelu",
    "is_decoder": False,
    "model_type": "bert",
    "position_embedding_type": "absolute",
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
# {entry: values that this project can compute}.
_ALLOWED: dict[str, list] = {
    "hidden_act": [*_ACTIVATIONS],
    "is_decoder": [False],
    "position_embedding_type": ["absolute"],
}


def read_head(path: StrPath) -> tuple[str | None, dict[str, Any]]:
    """Returns (class of the model, its settings) that a config.json states.

    Raises:
        OSError, ValueError: `read_json` raises an error.
    """
    values = read_json(path)
    kind = values.get("problem_type")
    names = values.get("architectures")
    modes = {theirs: ours for ours, theirs in PROBLEM_TYPES.items()}
    settings: dict[str, Any] = {"problem_type": kind} if kind else {}
    if kind in modes:
        settings["output_mode"] = modes[kind]
    elif not kind and len(values.get("id2label") or ()) == 1:
        # transformers trains a single output as a regression. Cross-encoders
        # are saved without a problem_type.
        settings |= {"output_mode": "regression", "problem_type": None}
    head = ARCHITECTURES.get(names[0]) if names else None
    if head == TOKEN_CLASSIFIER:
        # The tags may be in IOB1, whose sequences look illegal in IOB2.
        settings["legal_tags"] = False
    return head, settings


def read_config_labels(path: StrPath) -> list[str] | None:
    """Returns the labels in `id2label` of a config.json.

    Returns None if the file names only LABEL_0, LABEL_1, ...

    Raises:
        ValueError: a label is not text, is empty or occurs twice.
    """
    id2label = read_json(path).get("id2label") or {}
    numbered = {str(number): name for number, name in id2label.items()}
    names: list[Any] = [numbered.get(str(i)) for i in range(len(numbered))]
    if names == default_labels(len(names)):
        return None
    # JSON may contain numbers as names.
    labels = [str(name) if type(name) is int else name for name in names]
    check_labels(labels, f"{path}: `id2label`")
    return labels


def load_config(path: StrPath) -> BertConfig:
    """Reads a `bert_config.json` or a Hugging Face `config.json`.

    Args:
        path: path of the file or its folder.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is not the configuration of a BERT. The message
            names the file.
    """
    path = str(path)
    if os.path.isdir(path):
        names = ("bert_config.json", CONFIG_FILE)
        files = [os.path.join(path, name) for name in names]
        path = next(filter(os.path.isfile, files), files[0])
    values = read_json(path)
    folder, name = os.path.split(path)
    # A Hugging Face config.json of 2019 contains none of these keys. Recognize
    # it by the weights beside it.
    weights = ("pytorch_model.bin", "tf_model.h5")
    if not {"model_type", "architectures"} & values.keys() and not (
        name == CONFIG_FILE
        and any(os.path.isfile(os.path.join(folder, x)) for x in weights)
    ):
        return _parse_config(values, path)
    values = {**_DEFAULTS, **values}
    values["hidden_act"] = values["hidden_act"] or "linear"
    if values["model_type"] != "bert":
        raise ValueError(
            f"{path}: `model_type` is {values['model_type']!r}, so these are "
            "weights of another network than BERT, which this project does not "
            "read. Choose a model whose `model_type` is bert"
        )
    for key, allowed in _ALLOWED.items():
        if values[key] not in allowed:
            raise ValueError(
                f"{path}: `{key}` must be one of {allowed}. "
                f"Received: {values[key]!r}"
            )
    # Ignore entries that do not describe the network.
    ours = {field.name for field in dataclasses.fields(BertConfig)}
    entries = {name: values[name] for name in ours & values.keys()}
    entries["hidden_act"] = _ACTIVATIONS[values["hidden_act"]]
    return _parse_config(entries, path)


def _parse_config(entries: Mapping[str, Any], path: str) -> BertConfig:
    # Raises a ValueError that names the file.
    try:
        return BertConfig.from_dict(entries)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def config_entries(
    model: "keras.Model",
    labels: Sequence[str] | None,
    tokenizer: Tokenizer | None,
    problem_type: str | None,
    leave_out: Collection[str] = (),
) -> dict[str, Any]:
    """Returns the entries of the config.json that describes a model.

    See `save_huggingface` for the arguments.
    """
    kind = KINDS.get(kind_of(model))
    if not (kind and kind.transformers_class and model.built):
        raise ValueError(
            f"{kind_of(model)} is not built, or is no class that transformers "
            "has"
        )
    config = model.config
    values = config.to_dict()
    for name in config.unused:
        del values[name]
    activations = {ours: theirs for theirs, ours in _ACTIVATIONS.items()}
    values |= {
        "hidden_act": activations[config.hidden_act or "linear"],
        "layer_norm_eps": config.layer_norm_eps,
        "model_type": "bert",
        "pad_token_id": tokenizer.vocab.get("[PAD]", 0) if tokenizer else 0,
        "position_embedding_type": "absolute",
    }
    architecture = kind.transformers_class
    if "cls/seq_relationship/output_weights" in leave_out:
        architecture = THEIR_MASKED_LM
    elif "cls/predictions/output_bias" in leave_out:
        architecture = THEIR_NEXT_SENTENCE
    values["architectures"] = [architecture]
    if kind.has_labels:
        labels = default_labels(model.num_labels) if labels is None else labels
        check_labels(labels, num_labels=model.num_labels)
        values["id2label"] = {str(i): name for i, name in enumerate(labels)}
        values["label2id"] = {name: i for i, name in enumerate(labels)}
    if problem_type:
        values["problem_type"] = problem_type
    return values


def default_labels(num_labels: int) -> list[str]:
    """Returns LABEL_0, LABEL_1, ..., the default labels in transformers."""
    return [f"LABEL_{index}" for index in range(num_labels)]
