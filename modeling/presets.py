"""Reads the files of a folder of weights: ours, Google's or Hugging Face's.

This project writes model.json, bert_config.json, vocab.txt,
tokenizer_config.json and labels.txt beside weights. Google's and Hugging Face's
folders contain some of these files, or similar files with other names. This
module imports neither Keras nor TensorFlow.
"""

import dataclasses
import functools
import glob
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from absl import logging

from files.folders import VERSION
from files.json_files import parse_json, read_json
from files.paths import StrPath
from modeling import hub, kerashub_files, kinds, saved_models
from modeling.config import BertConfig
from modeling.config_files import (
    CONFIG_FILE,
    config_names,
    load_config,
    read_config_labels,
    read_head,
)
from modeling.labels import read_labels
from modeling.recorded_splits import ENTRY, RecordedSplit, read_split
from modeling.tokenizer_files import TOKENIZER_FILE, Tokenizer, read_tokenizer

FILE = "model.json"
# Folder in the folder of a run that contains the weights of the best step.
BEST = "best"
# The name of a run's checkpoint is this prefix, a hyphen and the step.
PREFIX = "model.ckpt"
# Options of the network for which bert_config.json contains no entry.
NETWORK = ("left_to_right", "bilstm")
# Entries of model.json that are whole numbers above 0.
_COUNTS = (
    "max_answer_length",
    "max_query_length",
    "n_best_size",
)
# Entries of model.json that are true or false.
_SWITCHES = (
    "bilstm",
    "do_lower_case",
    "left_to_right",
    "legal_tags",
    "load_best",
    "trim_padding",
    "use_char_offsets",
    "version_2_with_negative",
)
# Entries of model.json that contain other entries.
_GROUPS = (
    "bert_config",
    "command",
    "flags",
    "origin",
    "settings",
    ENTRY,
    "task",
    "tokenizer",
    "versions",
)
# {entry of model.json: its type, or its valid values}. Serving and this package
# trust these entries: a negative stride would loop for ever, and "no" be true.
# `flags.fill` checks every entry that becomes a flag.
_ENTRIES: dict[str, Any] = {
    "best_step": int | None,
    "doc_stride": range(2**31),
    "files": list,
    "labels": list | None,
    "max_seq_length": range(3, 2**31),
    "null_score_diff_threshold": int | float,
    "num_texts": (None, 1, 2),
    "output_mode": (None, *kinds.PROBLEM_TYPES),
    **dict.fromkeys(_COUNTS, range(1, 2**31)),
    **dict.fromkeys(_SWITCHES, bool),
    **dict.fromkeys(_GROUPS, dict),
    **dict.fromkeys(("name", "problem_type", "task_name"), str | None),
}
# Entries of bert_config.json that inference does not use.
_NOT_IDENTITY = {
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "initializer_range",
    "unused",
}
# Entries of bert_config.json that the shapes of the weights do not determine.
INVISIBLE = ("hidden_act", "layer_norm_eps", "num_attention_heads")


@dataclasses.dataclass(frozen=True)
class Preset:
    """Statements of the files in a folder about its weights.

    Attributes:
        path: path of the folder.
        weights: path that was passed to `read`: the folder, or a checkpoint in
            it.
        flag: flag whose value is `weights`, such as "--init_checkpoint", or "".
        config_file: path of the configuration, or None if it is missing. For
            an encoder of TF-Hub, the path of saved_model.pb.
        vocab_file: path of vocab.txt or tokenizer.json, or None if both are
            missing.
        tokenizer: result of `read_tokenizer`, {} if nothing is stated.
        head: class of the model, or None if it is unknown.
        labels: names of the outputs, in order, or None if no file names them.
        pooling: how sentence-transformers turns the vectors of tokens into one
            vector, such as "cls". None if it averages, or if nothing is stated.
        settings: settings of the head, {flag: value}, and in model.json and a
            Hugging Face classifier `problem_type`.
        training: settings that must not change when the run that wrote the
            folder is resumed. {} if no run wrote it, as for Google's models.
        split: how the run, or a run that it started from, split --data_file,
            None if none did.
        described: contents of model.json, {} if it is missing.
    """

    path: str
    weights: str = ""
    flag: str = ""
    config_file: str | None = None
    vocab_file: str | None = None
    tokenizer: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    head: str | None = None
    labels: list[str] | None = None
    pooling: str | None = None
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    split: RecordedSplit | None = None
    described: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def source(self) -> str:
        """The path that was read, as --flag=path, for messages."""
        return f"{self.flag}={self.weights}" if self.flag else self.weights

    @property
    def is_resumed(self) -> bool:
        """Whether a command continues the run in this folder."""
        return self.flag == "--output_dir"

    @property
    def network(self) -> dict[str, bool]:
        """{option in NETWORK: whether the weights were trained with it}."""
        return {name: self.training.get(name, False) for name in NETWORK}

    @property
    def do_lower_case(self) -> bool | None:
        """Whether text is lower-cased, or None if no file states it."""
        stated = self.tokenizer.get("do_lower_case")
        if stated is None:
            stated = self.training.get("tokenizer", {}).get("do_lower_case")
        return stated

    @property
    def data(self) -> dict[str, list]:
        """{split that the run read: [name of the file, rows, checksum]}."""
        entries = self.training.get("data", ())
        return {name: rest for name, *rest in entries if len(rest) == 3}

    def decision_flags(self) -> dict[str, Any]:
        """Returns {flag: recorded value} for a command that does not train.

        These flags are of the training, but a command that evaluates, predicts
        or exports the trained model must decide the same.

        Raises:
            ValueError: `trim_padding` is neither true nor false.
        """
        recorded = self.training.get("flags", {})
        # The copy of a model may state it with the settings of the head.
        trim_padding = self.settings.get("trim_padding")
        decisions = {"trim_padding": recorded.get("trim_padding", trim_padding)}
        if decisions["trim_padding"] is not None:
            _check_entries(decisions, os.path.join(self.path, FILE))
        return decisions

    def identity_flags(self) -> dict[str, Any]:
        """Returns {flag: value, None if unknown} that the weights determine."""
        return {
            "left_to_right": self.network["left_to_right"],
            "bert_config_file": self.config_file,
            "vocab_file": self.vocab_file,
            "do_lower_case": self.do_lower_case,
        }

    def max_length(self, head: str, longest: int) -> int:
        """Returns the maximum length of the inputs of the folder's training.

        Args:
            head: class of the model.
            longest: number of the model's positions, which is returned if no
                file records the length.
        """
        length = self.settings.get("max_seq_length")
        if length is None and head != kinds.MULTIPLE_CHOICE:
            # Ignore this setting for multiple choice, because it may be the
            # total length of all choices.
            length = self.training.get("max_seq_length")
        # Use the length that sentence-transformers or transformers recorded.
        for name, entry in (
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ):
            file = os.path.join(self.path, name)
            if length is None and os.path.isfile(file):
                length = read_json(file).get(entry)
        return min(length, longest) if isinstance(length, int) else longest

    def load_config(self) -> BertConfig | None:
        """Reads the configuration, None if the folder contains none.

        Raises:
            ValueError: it is not the configuration of a BERT.
        """
        return self._config

    @functools.cached_property
    def _config(self) -> BertConfig | None:
        return load_config(self.config_file) if self.config_file else None

    def check_head(self, name: str | None) -> None:
        """Checks that the head was not trained for another task.

        A model without a head passes, although its answers would be random.

        Args:
            name: class of the model that loads the weights, or None if unknown.

        Raises:
            ValueError: the folder describes a model of a different class.
        """
        if self.head != name and all(map(kinds.is_bound, (self.head, name))):
            raise ValueError(
                f"{self.path} contains a {self.head}, but this task needs a "
                f"{name}. Use the model for its own task, or pass it to "
                "--init_checkpoint, with --do_train and another --output_dir"
            )

    def warn_of_pooling(self) -> None:
        """Warns if sentence-transformers would compute different vectors."""
        if self.pooling:
            logging.warning(
                "%s was trained with %s, but this program averages the vectors "
                "of a text's tokens. The results will differ from the vectors "
                "that sentence-transformers computes.",
                self.path,
                self.pooling,
            )

    def check_identity(
        self,
        bert_config: BertConfig,
        tokenizer: Tokenizer | None = None,
        given: Mapping[str, Any] | None = None,
        trains: bool = False,
    ) -> None:
        """Checks that a model is used with the settings it was trained with.

        Args:
            bert_config: configuration of the network that loads the weights.
            tokenizer: FullTokenizer of the texts, or None.
            given: other settings to compare, such as the options in NETWORK, as
                {setting: value}. Settings that the folder does not state are
                not compared.
            trains: whether the model will be trained. Then its sizes may differ
                from the folder's, because a student may contain fewer blocks.

        Raises:
            ValueError: a setting differs. The message names the setting.
        """
        now = {
            **(given or {}),
            "bert_config": _compared_entries(bert_config.to_dict(), trains),
        }
        if tokenizer:
            now["tokenizer"] = tokenizer.identity
        saved = self._identity(trains)
        if "bert_config" in saved:
            try:
                saved["bert_config"] = _compared_entries(
                    saved["bert_config"], trains
                )
            except ValueError as error:
                file = os.path.join(self.path, FILE)
                raise ValueError(f"{file}: `bert_config`: {error}") from error
        if tokenizer and self.vocab_file:
            tokenizer.check_same_words(self.vocab_file, self.source)
        difference = first_difference(saved, now, saved.keys() & now.keys())
        if difference:
            name, before, value = difference
            raise ValueError(
                f"{self.source} was trained with {name}={before}; received "
                f"{value}. Use the value that it was trained with"
            )

    def _identity(self, trains: bool) -> dict[str, Any]:
        # Returns {setting: value} of what the folder states about its model.
        saved = {**self.training, **self.network}
        if mode := self.settings.get("output_mode"):
            saved["output_mode"] = mode
        if trains:
            # --bilstm belongs to the head, which starts with new weights.
            # Without a record, any network may be trained.
            for name in NETWORK if not self.training else ("bilstm",):
                del saved[name]
        if self.do_lower_case is not None:
            known = saved.get("tokenizer", {})
            saved["tokenizer"] = {"do_lower_case": self.do_lower_case, **known}
        if "bert_config" not in saved and (config := self.load_config()):
            saved["bert_config"] = config.to_dict()
        return saved


def _compared_entries(
    bert_config: Mapping[str, Any], trains: bool
) -> dict[str, Any]:
    # Returns the entries of a bert_config.json that must not differ.
    values = dataclasses.asdict(BertConfig.from_dict(bert_config))
    names = INVISIBLE if trains else values.keys() - _NOT_IDENTITY
    return {name: values[name] for name in names}


def read(path: StrPath, flag: str = "") -> Preset:
    """Reads the files beside weights, which describe the weights.

    Args:
        path: a folder with weights, a checkpoint in it, or a model of the
            Hugging Face hub, hf://OWNER/NAME or hf://OWNER/NAME@REVISION, which
            is downloaded.
        flag: flag whose value is `path`, such as "--init_checkpoint", for
            messages.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed, two files contradict each other, or the
            weights need another tokenizer than BERT's.
    """
    path = os.fspath(path)
    if path.startswith(hub.SCHEME):
        path = hub.download(path)
    check_path(path, flag)
    inner = _first_module(Path(path))
    if inner and os.path.isfile(os.path.join(path, inner, CONFIG_FILE)):
        # An old folder of sentence-transformers.
        path = os.path.join(path, inner)
    try:
        return _read_folder(Path(folder_of(path)), path, flag)
    except (AttributeError, KeyError, TypeError) as error:
        # Files of other programs may contain values of any type.
        raise ValueError(
            f"a file in {folder_of(path)} is malformed: {error!r}"
        ) from error


def check_path(path: str, flag: str = "") -> None:
    """Checks that there is a folder, or a checkpoint, with this path.

    Raises:
        FileNotFoundError: there is none. The message names the flag.
    """
    files = glob.iglob(f"{glob.escape(path)}.*")
    if os.path.exists(path) or any(files):
        return
    error = f"{flag}={path} does not exist".removeprefix("=")
    if re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", path):
        name = path if "/" in path else f"OWNER/{path}"
        error += f"; for a model of the hub, use hf://{name}"
    raise FileNotFoundError(error)


def of_run(folder: str, described: Mapping[str, Any]) -> Preset:
    """Returns the Preset of a folder to which a run wrote this model.json."""
    settings = _settings_of(described)
    return Preset(
        path=folder,
        weights=folder,
        head=settings.pop("name", None),
        settings=settings,
        training=described["origin"]["settings"],
        described=described,
    )


def _settings_of(described: Mapping[str, Any]) -> dict[str, Any]:
    # Returns {setting: value} of the head, and `name`, its class.
    settings = dict(described.get("task", {}))
    if mode := settings.get("output_mode"):
        settings.setdefault("problem_type", kinds.PROBLEM_TYPES[mode])
    return settings


def _read_folder(folder: Path, path: str, flag: str) -> Preset:
    def find(*names: str) -> str | None:
        files = (folder / name for name in names)
        return next((str(file) for file in files if file.is_file()), None)

    described = read_model_file(folder)
    theirs = find(CONFIG_FILE)
    settings = _settings_of(described)
    head = settings.pop("name", None)
    if theirs and not head:
        # A model.json may only list the files of the folder.
        head, settings = read_head(theirs)
    training = described.get("origin", {}).get("settings", {})
    tokenizer = read_tokenizer(folder)
    # TF-Hub's encoders state these in other places.
    configs = [*config_names(path)]
    vocabularies = ["vocab.txt", kerashub_files.VOCAB_FILE, TOKENIZER_FILE]
    if saved_models.is_encoder(folder):
        configs.append(saved_models.FILE)
        vocabularies.append(saved_models.VOCAB_FILE)
        tokenizer = tokenizer or saved_models.read_tokenizer(folder)
    _check_casing(folder, tokenizer, training)
    named = [(folder / FILE, x.get("labels")) for x in (settings, training)]
    if theirs:
        named.insert(0, (Path(theirs), read_config_labels(theirs)))
    return Preset(
        path=str(folder),
        weights=path,
        flag=flag,
        config_file=find(*configs),
        vocab_file=find(*vocabularies),
        tokenizer=tokenizer,
        head=head,
        labels=read_labels(folder, named),
        pooling=_read_pooling(folder) or kerashub_files.read_pooling(folder),
        settings=settings,
        training=training,
        split=read_split(described),
        described=described,
    )


def _check_casing(
    folder: Path, tokenizer: Mapping[str, Any], training: Mapping[str, Any]
) -> None:
    # Raises a ValueError if model.json records another casing than another file
    # states.
    recorded = training.get("tokenizer", {}).get("do_lower_case")
    stated = tokenizer.get("do_lower_case")
    if None not in (recorded, stated) and recorded != stated:
        raise ValueError(
            f"{tokenizer['file']} sets lower-casing to {stated}, but "
            f"{folder / FILE} to {recorded}. Correct or remove the wrong file"
        )


def folder_of(path: StrPath) -> str:
    """Returns the folder of a checkpoint. A folder is returned unchanged."""
    path = os.fspath(path)
    return (path if os.path.isdir(path) else os.path.dirname(path)) or "."


def read_model_file(folder: StrPath) -> dict[str, Any]:
    """Reads the model.json in a folder. Returns {} if it is missing.

    Raises:
        ValueError: an entry is not valid, or the version is another.
    """
    file = os.path.join(folder, FILE)
    if not os.path.isfile(file):
        return {}
    values = read_json(file)
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}; use the version of this "
            "project that wrote the file"
        )
    _check_entries(values, file)
    return values


def _check_entries(entries: Mapping[str, Any], file: str) -> None:
    for name, value in entries.items():
        allowed = _ENTRIES.get(name, object)
        if isinstance(allowed, range):
            is_valid = type(value) is int and value in allowed
        elif isinstance(allowed, tuple):
            is_valid = value in allowed
        else:
            is_valid = isinstance(value, allowed)
        if not is_valid:
            raise ValueError(f"{file}: `{name}` must not be {value!r:.80}")
        if name in ("origin", "settings", "task", "tokenizer"):
            _check_entries(value, file)


def checkpoint_steps(folder: StrPath) -> list[int]:
    """Returns the steps of complete checkpoints in a folder, oldest first."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    pattern = re.compile(rf"{PREFIX}-(0|[1-9][0-9]*)\.index")
    return sorted(int(m[1]) for m in map(pattern.fullmatch, names) if m)


def _first_module(folder: Path) -> str:
    # Returns the name of the folder in which sentence-transformers keeps the
    # network. "" if it is the folder itself, or another program's.
    file = folder / "modules.json"
    if not file.is_file():
        return ""
    listed = parse_json(file.read_bytes(), str(file), list)
    first = listed[0] if listed else {}
    name = first.get("path") if isinstance(first, dict) else None
    is_name = isinstance(name, str) and os.path.basename(name) == name
    return str(name) if is_name else ""


def _read_pooling(folder: Path) -> str | None:
    """Returns how sentence-transformers pools, None if it averages."""
    if folder.name and _first_module(folder.parent) == folder.name:
        folder = folder.parent
    file = folder / "1_Pooling/config.json"
    modules = folder / "modules.json"
    if modules.is_file():
        listed = parse_json(modules.read_bytes(), str(modules), list)
        if any("Dense" in str(module) for module in listed):
            return "a Dense layer"
    pooling = read_json(file) if file.is_file() else {}
    modes = [
        value if isinstance(value, str) else name
        for name, value in pooling.items()
        if name.startswith("pooling_mode") and value
    ]
    if modes in ([], ["mean"], ["pooling_mode_mean_tokens"]):
        return None
    return f"pooling by {', '.join(modes)}"


def first_difference(
    saved: Mapping[str, Any], now: Mapping[str, Any], names: Collection[str]
) -> tuple[str, Any, Any] | None:
    """Returns (name, saved value, value now) of the first difference, or None.

    Args:
        saved: recorded settings.
        now: settings of this command.
        names: names of the settings to compare. The names of entries in a dict
            are dotted, such as `bert_config.hidden_size`. Of the entry
            `tokenizer`, only what both sides state is compared.
    """
    for name in sorted(names):
        before = saved.get(name)
        value = now.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            inner = before.keys() | value.keys()
            if name == "tokenizer":
                inner = before.keys() & value.keys()
            difference = first_difference(before, value, inner)
            if difference:
                entry, before, value = difference
                return f"{name}.{entry}", before, value
        elif before != value:
            return name, before, value
    return None
