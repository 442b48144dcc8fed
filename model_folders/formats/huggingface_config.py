"""Reads and creates the config.json of transformers.

The file describes the network and its head. In it, "gelu" is the exact
function. In `BertConfig`, "gelu" is Google's tanh approximation.
"""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

from files.json_files import JsonObject, read_entry, read_json
from files.paths import StrPath
from model_folders.bert_config import ACTIVATIONS, BertConfig
from model_folders.head_settings import HeadSettings, TaskEntry
from model_folders.kinds import KIND_OF_CLASS, ModelClass, kind_of
from model_folders.labels import check_labels
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)
from model_folders.tokenizer_files import Tokenizer

# Names of files of weights, and of index files, which list the file that
# contains each tensor. If a folder contains several of these files, the first
# in this list is read.
HUGGINGFACE_WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
# Classes that contain only one of BertPretrainer's heads.
_MASKED_LM = "BertForMaskedLM"
_NEXT_SENTENCE = "BertForNextSentencePrediction"
# {class of transformers: class of this project}.
CLASS_OF_ARCHITECTURE: dict[str, ModelClass] = {
    _MASKED_LM: ModelClass.PRETRAINER,
    _NEXT_SENTENCE: ModelClass.PRETRAINER,
    **{
        kind.transformers_class: name
        for name, kind in KIND_OF_CLASS.items()
        if kind.transformers_class
    },
}
# {value of --output_mode: value of `problem_type` in transformers}.
PROBLEM_TYPE_OF_MODE: dict[OutputMode, str] = {
    CLASSIFICATION: "single_label_classification",
    MULTILABEL: "multi_label_classification",
    REGRESSION: REGRESSION,
}
# {activation in config.json: activation in `BertConfig`}. If several names mean
# the same activation, `create_config_json` writes the last name.
_ACTIVATION_OF_NAME = {
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
_DEFAULT_OF_ENTRY = {
    "hidden_act": "gelu",
    "is_decoder": False,
    "model_type": "bert",
    "position_embedding_type": "absolute",
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
# {entry: values that this project can compute}.
_ALLOWED_VALUES_OF_ENTRY: dict[str, list[object]] = {
    "hidden_act": [*_ACTIVATION_OF_NAME],
    "is_decoder": [False],
    "position_embedding_type": ["absolute"],
}


def parse_class_and_settings(
    values: JsonObject, path: StrPath
) -> tuple[ModelClass | None, HeadSettings]:
    """Returns (class of the model, settings of its head) of a config.json.

    `values` are the contents of the file at `path`.

    Raises:
        ValueError: an entry has another type.
    """
    architectures = read_entry(values, "architectures", list, str(path))
    id2label = read_entry(values, "id2label", dict, str(path))
    problem_type = _parse_text(
        values.get("problem_type"), f"{path}: `problem_type`"
    )
    architecture = _parse_text(
        next(iter(architectures), None), f"{path}: `architectures`"
    )
    task_entry = _create_task_entry(problem_type, len(id2label))
    model_class = CLASS_OF_ARCHITECTURE.get(architecture or "")
    if model_class == ModelClass.TOKEN_CLASSIFIER:
        # The tags may be in IOB1, whose sequences look illegal in IOB2.
        task_entry["legal_tags"] = False
    return model_class, task_entry


def _parse_text(value: object, place: str) -> str | None:
    """Returns the text of an entry, None for null."""
    if not isinstance(value, str | None):
        raise ValueError(f"{place} must be text. Received: {value!r:.80}")
    return value


def _create_task_entry(problem_type: str | None, num_labels: int) -> TaskEntry:
    """Returns the settings that `problem_type` determines for any head."""
    if not problem_type:
        # transformers trains a single output as a regression. Cross-encoders
        # are saved without a problem_type.
        is_regression = num_labels == 1
        if not is_regression:
            return {}
        return {"output_mode": REGRESSION, "problem_type": None}
    task_entry: TaskEntry = {"problem_type": problem_type}
    for output_mode, name in PROBLEM_TYPE_OF_MODE.items():
        if name == problem_type:
            task_entry["output_mode"] = output_mode
    return task_entry


def read_config_labels(path: StrPath) -> list[str] | None:
    """Returns the labels in `id2label` of a config.json.

    Returns None if the file names only LABEL_0, LABEL_1, ...

    Raises:
        ValueError: a label is not text, is empty or occurs twice.
    """
    id2label = read_entry(read_json(path), "id2label", dict, str(path))
    name_of_id = {str(index): name for index, name in id2label.items()}
    # Any, because `check_labels` below checks that they are texts.
    names: list[Any] = [
        name_of_id.get(str(index)) for index in range(len(name_of_id))
    ]
    if names == default_labels(len(names)):
        return None
    # JSON may contain numbers as names.
    labels = [str(name) if type(name) is int else name for name in names]
    check_labels(labels, f"{path}: `id2label`")
    return labels


def parse_network(values: JsonObject, path: str) -> JsonObject:
    """Converts the entries of a config.json to entries of a bert_config.json.

    `values` are the contents of the file at `path`.

    Raises:
        ValueError: the file describes another network. The message names the
            entry.
    """
    values = {**_DEFAULT_OF_ENTRY, **values}
    if values["hidden_act"] in (None, ""):
        values["hidden_act"] = "linear"
    if values["model_type"] != "bert":
        raise ValueError(
            f"{path}: `model_type` is {values['model_type']!r}, so these are "
            "weights of another network than BERT, which this project does not "
            "read. Choose a model whose `model_type` is bert"
        )
    for key, allowed in _ALLOWED_VALUES_OF_ENTRY.items():
        if values[key] not in allowed:
            raise ValueError(
                f"{path}: `{key}` must be one of {allowed}. "
                f"Received: {values[key]!r}"
            )
    # Ignore entries that do not describe the network.
    names = {field.name for field in dataclasses.fields(BertConfig)}
    entries = {name: values[name] for name in names & values.keys()}
    entries["hidden_act"] = _ACTIVATION_OF_NAME[str(values["hidden_act"])]
    return entries


def create_config_json(
    config: BertConfig,
    *,
    model_class: str,
    num_labels: int | None,
    labels: Sequence[str] | None,
    tokenizer: Tokenizer | None,
    problem_type: str | None,
    leave_out: Collection[str] = (),
) -> JsonObject:
    """Returns the entries of the config.json that describes a model.

    Args:
        config: configuration of the model.
        model_class: name of the model's class, which may be a user's own class.
        num_labels: number of outputs of the head. None if the model has no
            labels.
        labels: names of the outputs, in order. If None, the names are LABEL_0,
            LABEL_1, ...
        tokenizer: tokenizer of the model. If None, the id of [PAD] is 0.
        problem_type: entry `problem_type` of config.json, None to leave it out.
        leave_out: Google's names of the weights that the file lacks.

    Raises:
        ValueError: transformers has no class for the model, or `labels` are not
            as many as the outputs.
    """
    kind = kind_of(model_class)
    if not (kind and kind.transformers_class):
        raise ValueError(
            f"transformers has no class for {model_class}. Write another format"
        )
    values: JsonObject = config.to_dict()
    for name in config.unused:
        del values[name]
    # {activation in `BertConfig`: activation in config.json}.
    activations = {act: name for name, act in _ACTIVATION_OF_NAME.items()}
    values |= {
        "hidden_act": activations[config.hidden_act or "linear"],
        "layer_norm_eps": config.layer_norm_eps,
        "model_type": "bert",
        "pad_token_id": tokenizer.vocab.get("[PAD]", 0) if tokenizer else 0,
        "position_embedding_type": "absolute",
    }
    values["architectures"] = [
        _choose_architecture(kind.transformers_class, leave_out)
    ]
    if kind.has_labels and num_labels is not None:
        values |= _label_entries(labels, num_labels)
    if problem_type:
        values["problem_type"] = problem_type
    return values


def _label_entries(labels: Sequence[str] | None, num_labels: int) -> JsonObject:
    """Returns the entries that name the outputs of a head."""
    if labels is None:
        labels = default_labels(num_labels)
    check_labels(labels, num_labels=num_labels)
    return {
        "id2label": {str(index): label for index, label in enumerate(labels)},
        "label2id": {label: index for index, label in enumerate(labels)},
    }


def _choose_architecture(
    transformers_class: str, leave_out: Collection[str]
) -> str:
    """Returns the class of transformers that has the heads of a file.

    `transformers_class` has all heads of the model. `leave_out` are Google's
    names of the weights that the file lacks.
    """
    if "cls/seq_relationship/output_weights" in leave_out:
        return _MASKED_LM
    if "cls/predictions/output_bias" in leave_out:
        return _NEXT_SENTENCE
    return transformers_class


def default_labels(num_labels: int) -> list[str]:
    """Returns LABEL_0, LABEL_1, ..., the default labels in transformers."""
    return [f"LABEL_{index}" for index in range(num_labels)]
