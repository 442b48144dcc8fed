"""BERT as Hugging Face's transformers stores it: safetensors + config.json.

Its tensors carry other names, and a dense kernel is stored transposed; its
"gelu" is the exact form, ours (the original's) the tanh form.
"""

import json
import os
import re
import shutil

import numpy as np
import safetensors
import safetensors.numpy

from modeling.checkpoints.labels import copy_file
from modeling.checkpoints.names import original_name
from modeling.checkpoints.restore import restore_variables
from modeling.config import BertConfig, read_json_object

WEIGHTS_FILE = "model.safetensors"
CONFIG_FILE = "config.json"

# theirs: ours
_ACTIVATIONS = {
    "gelu": "gelu_erf",
    "gelu_new": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "linear": "linear",
    "relu": "relu",
    "tanh": "tanh",
}
_LAYER_NORM_EPSILON = 1e-12
# What their loader assumes where a config.json is silent, if not as ours.
_DEFAULTS = {"vocab_size": 30522, "type_vocab_size": 2}

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
_ARCHITECTURES = {
    "BertModel": "BertModel",
    "BertPretrainer": "BertForPreTraining",
    "BertClassifier": "BertForSequenceClassification",
    "BertTokenClassifier": "BertForTokenClassification",
    "BertSpanLabeler": "BertForQuestionAnswering",
    "BertMultipleChoice": "BertForMultipleChoice",
}


def huggingface_name(name):
    """Returns Hugging Face's name for one of the original's."""
    if name in _HEADS:
        return _HEADS[name]
    name = re.sub(r"/layer_(\d+)/", r"/layer/\1/", name)
    name = re.sub(r"/(?:kernel|gamma)$", "/weight", name)
    name = re.sub(r"/beta$", "/bias", name)
    name = re.sub(r"_embeddings$", "_embeddings/weight", name)
    return name.replace("/", ".")


def is_huggingface(path):
    """Returns whether `path` is a `.safetensors` file or a folder with one."""
    return str(path).endswith(".safetensors") or os.path.isfile(
        os.path.join(path, WEIGHTS_FILE)
    )


def find_huggingface(path):
    """Returns the `.safetensors` file that `path` names.

    Raises:
        FileNotFoundError: there is no such file.
    """
    path = str(path)
    if os.path.isdir(path):
        path = os.path.join(path, WEIGHTS_FILE)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"There is no file {path}")
    return path


def load_huggingface(model, path):
    """Gives a model the weights of a Hugging Face BERT.

    Args:
        model: any model here, built or not.
        path: a folder with `model.safetensors`, or such a file itself.

    Returns:
        `LoadReport`, under the original's names; `unused` holds Hugging
        Face's. The pooler may be missing, as models for masked words or
        questions have none.

    Raises:
        FileNotFoundError: there is no such file.
        OSError: it cannot be read.
        ValueError: a variable of the encoder is missing or has another
            shape.
    """
    path = find_huggingface(path)
    if not model.built:
        model.build()
    names = [original_name(weight) for weight in model.weights]
    try:
        with safetensors.safe_open(path, framework="np") as file:
            return _restore(model, path, file, names)
    except safetensors.SafetensorError as error:
        raise OSError(f"{path} cannot be read: {error}") from error


def _restore(model, path, file, names):
    theirs = {_normalize(name): name for name in file.keys()}
    found = {
        name: theirs.pop(huggingface_name(name))
        for name in names
        if huggingface_name(name) in theirs
    }

    def read(name):
        tensor = file.get_tensor(found[name])
        return tensor.T if name.endswith("/kernel") else tensor

    shapes = {}
    for name, their_name in found.items():
        shape = file.get_slice(their_name).get_shape()
        shapes[name] = shape[::-1] if name.endswith("/kernel") else shape
    # What the model has no use for, and no second copies or constants.
    unused = {
        name: []
        for name in theirs.values()
        if not re.search(r"position_ids$|predictions\.decoder\.", name)
    }
    return restore_variables(model, path, {**shapes, **unused}, read)


def _normalize(name):
    """Returns a tensor's name as today's transformers writes it.

    A model saved without a head has no `bert.` in front, and old files call
    a normalisation's weights gamma and beta.
    """
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    name = name.replace("LayerNorm.beta", "LayerNorm.bias")
    if re.match(r"(?:embeddings|encoder|pooler)\.", name):
        return f"bert.{name}"
    return name


def save_huggingface(
    model, directory, labels=None, vocab_file=None, leave_out=()
):
    """Writes `model.safetensors` and `config.json` for transformers.

    Args:
        model: any model here.
        directory: folder to write into; made where there is none.
        labels: list of str, names of a classifier's outputs in order;
            None = LABEL_0, LABEL_1, ...
        vocab_file: the vocabulary to copy to `vocab.txt`, or None.
        leave_out: original names of weights not to write, such as those of a
            head that a model for masked words alone does not have.

    Raises:
        ValueError: the model is of no class here, or not built, or `labels`
            has the wrong length.
    """
    class_name = type(model).__name__
    if class_name not in _ARCHITECTURES or not model.built:
        raise ValueError(
            "Only a built model of one of the classes "
            f"{sorted(_ARCHITECTURES)} can be saved for transformers. "
            f"Received: {class_name}, built={model.built}"
        )
    values = config_to_huggingface(model.config)
    architecture = _ARCHITECTURES[class_name]
    if "cls/seq_relationship/output_weights" in leave_out:
        architecture = "BertForMaskedLM"
    values["architectures"] = [architecture]
    if hasattr(model, "num_labels"):
        values.update(_label_entries(labels, model.num_labels))
    tensors = {}
    for weight in model.weights:
        name = original_name(weight)
        if name in leave_out:
            continue
        value = np.asarray(weight)
        if name.endswith("/kernel"):
            value = value.T
        their_name = huggingface_name(name)
        if class_name == "BertModel":
            their_name = their_name.removeprefix("bert.")
        tensors[their_name] = np.ascontiguousarray(value)

    os.makedirs(directory, exist_ok=True)
    weights_path = os.path.join(directory, WEIGHTS_FILE)
    config_path = os.path.join(directory, CONFIG_FILE)
    safetensors.numpy.save_file(
        tensors, f"{weights_path}.partial", metadata={"format": "pt"}
    )
    with open(f"{config_path}.partial", "w", encoding="utf-8") as writer:
        json.dump(values, writer, indent=2, sort_keys=True)
        writer.write("\n")
    # safetensors makes a file that nobody else may read.
    shutil.copymode(f"{config_path}.partial", f"{weights_path}.partial")
    for path in (config_path, weights_path):
        os.replace(f"{path}.partial", path)
    if vocab_file:
        copy_file(vocab_file, os.path.join(directory, "vocab.txt"))


def _label_entries(labels, num_labels):
    if labels is None:
        labels = [f"LABEL_{index}" for index in range(num_labels)]
    if len(labels) != num_labels:
        raise ValueError(
            f"`labels` must name the model's {num_labels} outputs. "
            f"Received: {labels}"
        )
    return {
        "id2label": {str(index): name for index, name in enumerate(labels)},
        "label2id": {name: index for index, name in enumerate(labels)},
    }


def config_from_huggingface(values):
    """Makes a `BertConfig` of the entries of a Hugging Face config.json.

    Only what describes the network is kept.

    Raises:
        ValueError: they describe a network that is not BERT's.
    """
    values = {**_DEFAULTS, **values}
    for name, expected in (
        ("model_type", "bert"),
        ("position_embedding_type", "absolute"),
        ("is_decoder", False),
        ("layer_norm_eps", _LAYER_NORM_EPSILON),
    ):
        if values.get(name, expected) != expected:
            raise ValueError(
                f"`{name}` must be {expected!r} for this network. "
                f"Received: {name}={values[name]!r}"
            )
    activation = values.get("hidden_act", "gelu")
    if activation not in _ACTIVATIONS:
        raise ValueError(
            f"`hidden_act` must be one of {sorted(_ACTIVATIONS)}. "
            f"Received: hidden_act={activation!r}"
        )
    ours = BertConfig(vocab_size=1).to_dict()
    return BertConfig.from_dict(
        {
            **{name: values[name] for name in ours.keys() & values.keys()},
            "hidden_act": _ACTIVATIONS[activation],
        }
    )


def config_to_huggingface(config):
    """Returns the entries of a Hugging Face config.json for a `BertConfig`."""
    values = config.to_dict()
    for name in config.unused:
        del values[name]
    activations = {ours: theirs for theirs, ours in _ACTIVATIONS.items()}
    return {
        **values,
        "hidden_act": {**activations, "gelu": "gelu_new"}[config.hidden_act],
        "layer_norm_eps": _LAYER_NORM_EPSILON,
        "model_type": "bert",
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
    }


def _find_config(path):
    path = str(path)
    if not os.path.isdir(path):
        return path
    candidates = [
        os.path.join(path, name) for name in ("bert_config.json", CONFIG_FILE)
    ]
    found = [name for name in candidates if os.path.isfile(name)]
    if not found:
        raise FileNotFoundError(f"There is neither {' nor '.join(candidates)}")
    return found[0]


def read_architectures(path):
    """Returns the classes that a config.json is of, [] where it is silent.

    Args:
        path: see load_config.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it holds no JSON object.
    """
    return read_json_object(_find_config(path)).get("architectures") or []


def load_config(path):
    """Reads a `bert_config.json` or a Hugging Face `config.json`.

    Args:
        path: the file, or a folder that holds one of those two.

    Returns:
        `BertConfig`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is not the configuration of a BERT; the message names
            the file.
    """
    path = _find_config(path)
    values = read_json_object(path)
    if "model_type" not in values and "architectures" not in values:
        return BertConfig.from_json_file(path)
    try:
        return config_from_huggingface(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
