"""Converts between a Hugging Face config.json and a `BertConfig`.

In config.json, "gelu" is the exact function. In `BertConfig`, "gelu" is
Google's tanh approximation.
"""

import dataclasses
import os
from collections.abc import Collection, Sequence
from typing import Any

from files.json_files import read_json
from files.labels import check_labels
from files.paths import StrPath
from modeling.config import ACTIVATIONS, BertConfig
from modeling.labels import default_labels

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
# Default values in transformers that differ from the defaults of `BertConfig`.
_DEFAULTS = {"vocab_size": 30522, "type_vocab_size": 2}
# {class of this project: class of transformers}.
CLASSES = {
    "BertModel": "BertModel",
    "BertPretrainer": "BertForPreTraining",
    "BertClassifier": "BertForSequenceClassification",
    "BertTokenClassifier": "BertForTokenClassification",
    "BertSpanLabeler": "BertForQuestionAnswering",
    "BertMultipleChoice": "BertForMultipleChoice",
}
# {class of transformers: class of this project}.
ARCHITECTURES = {theirs: ours for ours, theirs in CLASSES.items()}
ARCHITECTURES["BertForMaskedLM"] = "BertPretrainer"
ARCHITECTURES["BertForNextSentencePrediction"] = "BertPretrainer"


def read_architectures(path: StrPath) -> list[str]:
    """Returns the `architectures` of a config.json, [] if it lists none.

    Args:
        path: path of the file or its folder.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is not a JSON object, or `architectures` is not a
            list of str.
    """
    path = _find_config(path)
    names = read_json(path).get("architectures")
    if names is None:
        return []
    if not isinstance(names, list) or not all(
        isinstance(name, str) for name in names
    ):
        raise ValueError(
            f"{path}: `architectures` must be a list of classes such as "
            f'["BertModel"]. Received: {names!r}'
        )
    return names


def load_config(path: StrPath) -> BertConfig:
    """Reads a `bert_config.json` or a Hugging Face `config.json`.

    Args:
        path: path of the file or its folder.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is not the configuration of a BERT. The message
            names the file.
    """
    path = _find_config(path)
    values = read_json(path)
    folder, name = os.path.split(path)
    # A Hugging Face config.json of 2019 contains none of these keys. Recognize
    # it by the pytorch_model.bin beside it.
    if not {"model_type", "architectures"} & values.keys() and not (
        name == CONFIG_FILE
        and os.path.isfile(os.path.join(folder, "pytorch_model.bin"))
    ):
        return BertConfig.from_json_file(path)
    values = {**_DEFAULTS, **values}
    for key, expected in (
        ("model_type", "bert"),
        ("position_embedding_type", "absolute"),
        ("is_decoder", False),
    ):
        if values.get(key, expected) != expected:
            raise ValueError(
                f"{path}: `{key}` must be {expected!r}, because this project "
                f"lacks other variants. Received: {key}={values[key]!r}"
            )
    activation = values.get("hidden_act", "gelu") or "linear"
    if activation not in list(_ACTIVATIONS):
        raise ValueError(
            f"{path}: `hidden_act` must be one of {sorted(_ACTIVATIONS)}. "
            f"Received: hidden_act={activation!r}"
        )
    # Ignore entries that do not describe the network.
    ours = {field.name for field in dataclasses.fields(BertConfig)}
    entries = {name: values[name] for name in ours & values.keys()}
    try:
        return BertConfig.from_dict(
            entries | {"hidden_act": _ACTIVATIONS[activation]}
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _find_config(path: StrPath) -> str:
    path = str(path)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"There is no configuration {path}. Use an existing path"
        )
    if not os.path.isdir(path):
        return path
    candidates = [
        os.path.join(path, name) for name in ("bert_config.json", CONFIG_FILE)
    ]
    for file in filter(os.path.isfile, candidates):
        return file
    raise FileNotFoundError(
        f"There is neither {' nor '.join(candidates)}. Use a folder that "
        "contains one of them"
    )


def config_entries(
    model: Any,
    labels: Sequence[str] | None,
    leave_out: Collection[str] = (),
) -> dict[str, Any]:
    """Returns the entries of the config.json that describes a model.

    See `save_huggingface` for the arguments.
    """
    class_name = type(model).__name__
    if class_name not in CLASSES or not model.built:
        raise ValueError(
            "Only a built model of one of the classes "
            f"{sorted(CLASSES)} can be saved for transformers. "
            f"Received: {'a built' if model.built else 'an unbuilt'} "
            f"{class_name}"
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
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
    }
    architecture = CLASSES[class_name]
    if "cls/seq_relationship/output_weights" in leave_out:
        architecture = "BertForMaskedLM"
    elif "cls/predictions/output_bias" in leave_out:
        architecture = "BertForNextSentencePrediction"
    values["architectures"] = [architecture]
    if hasattr(model, "num_labels"):
        labels = default_labels(model.num_labels) if labels is None else labels
        check_labels(labels, num_labels=model.num_labels)
        values["id2label"] = {str(i): name for i, name in enumerate(labels)}
        values["label2id"] = {name: i for i, name in enumerate(labels)}
    return values
