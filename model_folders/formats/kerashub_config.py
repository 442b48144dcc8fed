"""Reads the JSON files of KerasHub's presets. Imports no Keras.

KerasHub writes config.json, tokenizer.json and task.json as Keras serializes
objects: `class_name`, `registered_name` and `config`. No object is created from
these files. kerashub_objects.py creates their contents.
"""

import json
import os

from files.json_files import JsonObject, read_json
from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.formats.shards import read_weight_map, shard_path
from model_folders.head_settings import ClassifierSettings, HeadSettings
from model_folders.kinds import ModelClass
from model_folders.output_modes import MULTILABEL
from model_folders.tokenizer_files import StatedCasing, warn_of_tokenizer

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.weights.h5"
# The index of weights in several files, SHARDS.
INDEX_FILE = "model.weights.json"
SHARDS = "model_*.weights.h5"
TASK_WEIGHTS_FILE = "task.weights.h5"
TASK_FILE = "task.json"
PREPROCESSOR_FILE = "preprocessor.json"
TOKENIZER_FILE = "tokenizer.json"
VOCAB_FILE = "assets/tokenizer/vocabulary.txt"

# {task of KerasHub, or before it of KerasNLP: class of this project}.
_CLASS_OF_TASK: dict[str, ModelClass] = {
    "BertClassifier": ModelClass.CLASSIFIER,
    "BertMaskedLM": ModelClass.PRETRAINER,
    "BertTextClassifier": ModelClass.CLASSIFIER,
    "BertTextEmbedder": ModelClass.ENCODER,
}
# {entry of BertConfig: entry of a BertBackbone}.
NAME_OF_SIZE = {
    "vocab_size": "vocabulary_size",
    "hidden_size": "hidden_dim",
    "num_hidden_layers": "num_layers",
    "num_attention_heads": "num_heads",
    "intermediate_size": "intermediate_dim",
}
# KerasHub's default rate of dropout.
DEFAULT_DROPOUT = 0.1
# Entries of a BertBackbone that may be missing, with KerasHub's defaults.
_DEFAULT_OF_ENTRY: JsonObject = {
    "dropout": DEFAULT_DROPOUT,
    "max_sequence_length": 512,
    "num_segments": 2,
}
# KerasHub's default length of inputs.
_DEFAULT_SEQUENCE_LENGTH = 512
# Values of a BertTokenizer that result in the tokens of Google's tokenizer.
_ALLOWED_VALUES_OF_OPTION = {
    "lowercase": (True, False),
    "split": (True,),
    "split_on_cjk": (True,),
    "suffix_indicator": ("##",),
    "oov_token": ("[UNK]",),
}


def is_kerashub(values: JsonObject) -> bool:
    """Returns whether the contents of a JSON file describe an object of Keras.

    Files of this project, of Google and of transformers do not have these
    entries.
    """
    return {"class_name", "config"} <= values.keys()


def has_kerashub_config(folder: StrPath) -> bool:
    """Returns whether the config.json of a folder, if any, is KerasHub's."""
    path = os.path.join(folder, CONFIG_FILE)
    return os.path.isfile(path) and is_kerashub(read_json(path))


def parse_object(values: JsonObject, path: str, *names: str) -> JsonObject:
    """Returns `config` of a serialized object of KerasHub, a dict.

    Args:
        values: contents of the file.
        path: path of the file, for messages.
        *names: valid names of the object's class.

    Raises:
        ValueError: the object is of another class, or its `config` is no dict.
    """
    name = values["class_name"]
    packages = ("keras_hub", "keras_nlp")
    registered = [f"{package}>{name}" for package in packages]
    if name not in names or values.get("registered_name") not in registered:
        json_name = json.dumps(values.get("registered_name") or name)
        raise ValueError(
            f"{path} describes {json_name:.80}, but of Keras's and KerasHub's "
            f"classes, only {', '.join(names)} can be read. Use another model"
        )
    entries = values["config"]
    if not isinstance(entries, dict):
        raise ValueError(f"{path}: `config` must be an object")
    return entries


def parse_network(values: JsonObject, path: str) -> JsonObject:
    """Returns the entries of the bert_config.json of a BertBackbone.

    Args:
        values: contents of the preset's config.json.
        path: path of the file, for messages.

    Raises:
        ValueError: the file describes another network, or lacks an entry.
    """
    entries = _DEFAULT_OF_ENTRY | parse_object(values, path, "BertBackbone")
    missing = [entry for entry in NAME_OF_SIZE.values() if entry not in entries]
    if missing:
        raise ValueError(f"{path} lacks `config.{missing[0]}`")
    sizes = {name: entries[entry] for name, entry in NAME_OF_SIZE.items()}
    return {
        **sizes,
        "hidden_act": "gelu",
        "hidden_dropout_prob": entries["dropout"],
        "attention_probs_dropout_prob": entries["dropout"],
        "max_position_embeddings": entries["max_sequence_length"],
        "type_vocab_size": entries["num_segments"],
    }


def read_bert_config(path: StrPath) -> BertConfig:
    """Reads the config.json of a preset.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file describes another network, or lacks an entry.
    """
    return BertConfig.from_file_entries(
        parse_network(read_json(path), os.fspath(path)), path
    )


def read_task(folder: StrPath) -> tuple[ModelClass, JsonObject]:
    """Returns (class of this project, `config` of task.json) of a preset.

    Without task.json, returns (the class of an encoder, {}).

    Raises:
        OSError, ValueError: `read_json` raises an error, or the task is none
            that this project reads.
    """
    path = os.path.join(folder, TASK_FILE)
    if not os.path.isfile(path):
        return ModelClass.ENCODER, {}
    values = read_json(path)
    if not is_kerashub(values):
        raise ValueError(f"{path} must contain `class_name` and `config`")
    entries = parse_object(values, path, *_CLASS_OF_TASK)
    model_class = _CLASS_OF_TASK[str(values["class_name"])]
    num_labels = entries.get("num_classes")
    if model_class == ModelClass.CLASSIFIER and type(num_labels) is not int:
        raise ValueError(
            f"{path}: `num_classes` must be a whole number. "
            f"Received: {num_labels!r:.80}"
        )
    return model_class, entries


def read_class_and_settings(
    folder: StrPath,
) -> tuple[ModelClass, HeadSettings]:
    """Returns (class of the model, settings of its head) of a preset.

    Raises:
        OSError, ValueError: `read_json` raises an error, or the network or the
            task is none that this project reads.
    """
    path = os.path.join(folder, CONFIG_FILE)
    network = parse_object(read_json(path), path, "BertBackbone")
    model_class, entries = read_task(folder)
    head_settings: ClassifierSettings = {}
    if model_class == ModelClass.CLASSIFIER:
        head_settings |= _read_length(folder, _DEFAULT_OF_ENTRY | network)
        if entries.get("activation") == "sigmoid":
            head_settings["output_mode"] = MULTILABEL
            head_settings["problem_type"] = "multi_label_classification"
    return model_class, head_settings


def _read_length(folder: StrPath, network: JsonObject) -> ClassifierSettings:
    """Returns {"max_seq_length": length of a classifier's inputs}.

    Returns {} if no file states it. KerasHub's default may be longer than the
    network allows.
    """
    path = os.path.join(folder, PREPROCESSOR_FILE)
    if not os.path.isfile(path):
        return {}
    values = read_json(path)
    entries = values.get("config") if is_kerashub(values) else None
    if not isinstance(entries, dict):
        raise ValueError(f"{path} must contain `class_name` and `config`")
    length = entries.get("sequence_length", _DEFAULT_SEQUENCE_LENGTH)
    if type(length) is not int or length < 3:
        raise ValueError(
            f"{path}: `sequence_length` must be a whole number above 2. "
            f"Received: {length!r:.80}"
        )
    num_positions = network["max_sequence_length"]
    if type(num_positions) is int and num_positions >= 3:
        length = min(length, num_positions)
    return {"max_seq_length": length}


def read_embedder_pooling(folder: StrPath) -> str | None:
    """Returns how a BertTextEmbedder pools, None if it only averages."""
    if not has_kerashub_config(folder):
        return None
    _, entries = read_task(folder)
    mode = entries.get("pooling_mode", "mean")
    return None if mode == "mean" else f"pooling by {mode}"


def list_kerashub_files_beside(path: str) -> list[str]:
    """Returns the files that say more of the weights of a preset.

    Args:
        path: path of the weights, or of their index. For a path of another
            format, the list is empty.
    """
    folder, name = os.path.split(path)
    if name not in (WEIGHTS_FILE, INDEX_FILE):
        return []
    # The datasets in the file are numbered, and config.json describes them.
    files = [
        os.path.join(folder, name_beside)
        for name_beside in (TASK_WEIGHTS_FILE, TASK_FILE, CONFIG_FILE)
    ]
    existing_files = [*filter(os.path.isfile, files)]
    if name == INDEX_FILE:
        existing_files += sorted({file for _, file in read_shards(path)})
    return existing_files


def read_shards(path: str) -> list[tuple[str, str]]:
    """Returns (group of datasets, path of a file with some of these datasets).

    Args:
        path: path of the index, model.weights.json.
    """
    return [
        (group.removeprefix("/"), shard_path(path, group, file, ".weights.h5"))
        for group, listed in read_weight_map(path).items()
        for file in (listed if isinstance(listed, list) else [listed])
    ]


def parse_casing(values: JsonObject, path: str) -> StatedCasing:
    """Returns the casing that a preset's tokenizer.json states.

    KerasHub keeps accents by default, even of lower-cased text. Google's BERT,
    whose weights KerasHub's presets contain, strips accents from such text.

    Returns:
        {"do_lower_case": whether text is lower-cased, "file": path}.

    Raises:
        ValueError: the tokenizer is of another class, or has other options than
            Google's.
    """
    entries = parse_object(values, path, "BertTokenizer")
    # Google has no cased tokenizer that strips accents.
    lower_case = entries.get("lowercase", False) is True
    allowed = _ALLOWED_VALUES_OF_OPTION | {"strip_accents": (False, lower_case)}
    for name, expected in allowed.items():
        value = entries.get(name, expected[0])
        if json.dumps(value) not in map(json.dumps, expected):
            raise ValueError(
                f"{path}: `{name}` is {json.dumps(value):.80}, but this "
                "program tokenizes only as Google's BERT does. Use another "
                "model"
            )
    if lower_case and not entries.get("strip_accents"):
        warn_of_tokenizer(
            f"{path}: KerasHub keeps the accents of this model's texts, but "
            "this program strips them, as Google's BERT does"
        )
    return {"do_lower_case": lower_case, "file": path}
