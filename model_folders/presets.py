"""Reads the files beside weights, in the folders of this and other libraries.

This project writes model.json, bert_config.json, vocab.txt,
tokenizer_config.json and labels.txt beside weights. Google's, Hugging Face's
and KerasHub's folders contain some of these files, or similar files with other
names. This module imports neither Keras nor TensorFlow.
"""

import dataclasses
import functools
import glob
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from absl import logging

from files.paths import StrPath
from model_folders import hub, kinds, model_json
from model_folders.bert_config import BertConfig
from model_folders.formats import (
    huggingface_pooling,
    kerashub_config,
    object_config,
)
from model_folders.formats.huggingface_config import (
    CONFIG_FILE,
    config_names,
    load_config,
    read_config_labels,
    read_model_class,
)
from model_folders.labels import read_labels
from model_folders.model_entries import (
    HeadSettings,
    ModelJson,
    NetworkOptions,
    StatedCasing,
    TrainingSettings,
)
from model_folders.recorded_sets import (
    RECORDED_SETS,
    DevSetRule,
    RecordedSet,
    parse_dev_set_rule,
)
from model_folders.tokenizer_files import TOKENIZER_FILE, read_stated_casing

# Options of the network for which bert_config.json contains no entry.
NETWORK_OPTIONS = ("left_to_right", "bilstm")


@dataclasses.dataclass(frozen=True)
class Preset:
    """Statements of the files in a folder about its weights.

    Attributes:
        path: path of the folder.
        weights: path that was passed to `read_preset`: the folder, or a
            checkpoint in it.
        flag: flag whose value is `weights`, such as "--init_checkpoint", or "".
            It is only for messages.
        is_own_run: whether the folder is the --output_dir of this command, so
            that the command resumes, evaluates or exports the run in it.
        config_file: path of the configuration, or None if it is missing. For
            an encoder of TF-Hub, the path of saved_model.pb.
        vocab_file: path of vocab.txt or tokenizer.json, or None if both are
            missing.
        stated_casing: result of `read_stated_casing`, {} if nothing is stated.
        model_class: name of the model's class, which may be a user's own, or
            None if it is unknown.
        labels: names of the outputs, in order, or None if no file names them.
        pooling: how sentence-transformers turns the vectors of tokens into one
            vector, such as "cls". None if it averages, or if nothing is stated.
        head_settings: settings of the head, {flag: value}, and in model.json
            and a Hugging Face classifier `problem_type`.
        recorded_settings: settings that must not change when the run that wrote
            the folder is resumed. {} if no run wrote it, as for Google's
            models.
        dev_set_rule: how the run, or a run that it started from, cut
            --data_file, None if none did.
        model_json: contents of model.json, {} if it is missing.
    """

    path: str
    weights: str = ""
    flag: str = ""
    is_own_run: bool = False
    config_file: str | None = None
    vocab_file: str | None = None
    stated_casing: StatedCasing = dataclasses.field(
        default_factory=StatedCasing
    )
    model_class: str | None = None
    labels: list[str] | None = None
    pooling: str | None = None
    head_settings: HeadSettings = dataclasses.field(
        default_factory=HeadSettings
    )
    recorded_settings: TrainingSettings = dataclasses.field(
        default_factory=TrainingSettings
    )
    dev_set_rule: DevSetRule | None = None
    model_json: ModelJson = dataclasses.field(default_factory=ModelJson)

    @property
    def source(self) -> str:
        """The path that was read, as --flag=path, for messages."""
        return f"{self.flag}={self.weights}" if self.flag else self.weights

    @property
    def network(self) -> NetworkOptions:
        """{option of the network: whether the weights were trained with it}."""
        return {
            "left_to_right": self.recorded_settings.get("left_to_right", False),
            "bilstm": self.recorded_settings.get("bilstm", False),
        }

    @property
    def do_lower_case(self) -> bool | None:
        """Whether text is lower-cased, or None if no file states it."""
        stated = self.stated_casing.get("do_lower_case")
        if stated is None:
            recorded = self.recorded_settings.get("tokenizer", {})
            stated = recorded.get("do_lower_case")
        return stated

    @property
    def recorded_sets(self) -> dict[str, RecordedSet]:
        """{name of a split that the run read: its RecordedSet}."""
        entries = self.recorded_settings.get(RECORDED_SETS, ())
        return {
            entry[0]: RecordedSet(*entry)
            for entry in entries
            if len(entry) == len(RecordedSet._fields)
        }

    def decision_flags(self) -> dict[str, bool | None]:
        """Returns {flag: recorded value} for a command that does not train.

        These flags are of the training, but a command that evaluates, predicts
        or exports the trained model must decide the same.

        Raises:
            ValueError: `trim_padding` is neither true nor false.
        """
        recorded = self.recorded_settings.get("flags", {})
        # The copy of a model may state it with the settings of the head.
        trim_padding = self.head_settings.get("trim_padding")
        decisions = {"trim_padding": recorded.get("trim_padding", trim_padding)}
        if decisions["trim_padding"] is not None:
            model_json.check_entries(
                decisions, os.path.join(self.path, model_json.MODEL_JSON_FILE)
            )
        return decisions

    def identity_flags(self) -> dict[str, str | bool | None]:
        """Returns {flag: value, None if unknown} that the weights determine."""
        return {
            "left_to_right": self.network["left_to_right"],
            "bert_config_file": self.config_file,
            "vocab_file": self.vocab_file,
            "do_lower_case": self.do_lower_case,
        }

    def load_config(self) -> BertConfig | None:
        """Reads the configuration, None if the folder contains none.

        Raises:
            ValueError: it is not the configuration of a BERT.
        """
        return self._config

    def load_required_config(self, file: str | None = None) -> BertConfig:
        """Reads the configuration in a file, by default in the folder.

        For the folder's own file, returns the object of `load_config`, so that
        errors about the sizes of the weights name this file.

        Raises:
            FileNotFoundError: the file does not exist, or the folder contains
                no configuration.
            ValueError: it is not the configuration of a BERT.
        """
        if file in {None, self.config_file} and self._config is not None:
            return self._config
        return load_config(file or self.path)

    @functools.cached_property
    def _config(self) -> BertConfig | None:
        return load_config(self.config_file) if self.config_file else None

    def check_model_class(self, name: str | None) -> None:
        """Checks that the head was not trained for another task.

        A model without a head passes, although its answers would be random.

        Args:
            name: class of the model that loads the weights, or None if unknown.

        Raises:
            ValueError: the folder describes a model of a different class.
        """
        if self.model_class != name and all(
            map(kinds.is_task_specific, (self.model_class, name))
        ):
            raise ValueError(
                f"{self.path} contains a {self.model_class}, but this task "
                f"needs a {name}. Use the model for its own task, or pass it "
                "to --init_checkpoint, with --do_train and another --output_dir"
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


def read_preset(
    path: StrPath, flag: str = "", is_own_run: bool = False
) -> Preset:
    """Reads the files beside weights, which describe the weights.

    Args:
        path: a folder with weights, a checkpoint in it, or a model of the
            Hugging Face hub, hf://OWNER/NAME or hf://OWNER/NAME@REVISION, which
            is downloaded.
        flag: flag whose value is `path`, such as "--init_checkpoint", for
            messages.
        is_own_run: whether `path` is the --output_dir of this command.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed, two files contradict each other, or the
            weights need another tokenizer than BERT's.
    """
    path = os.fspath(path)
    if path.startswith(hub.SCHEME):
        path = hub.download(path)
    check_path(path, flag)
    inner = huggingface_pooling.first_module(Path(path))
    if inner and os.path.isfile(os.path.join(path, inner, CONFIG_FILE)):
        # An old folder of sentence-transformers.
        path = os.path.join(path, inner)
    return _read_folder(Path(folder_of(path)), path, flag, is_own_run)


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


def preset_of_run(folder: str, contents: ModelJson) -> Preset:
    """Returns the Preset of --output_dir, to which this command's run writes.

    Args:
        folder: path of the folder.
        contents: what the run writes to model.json.
    """
    model_class, head_settings = _split_task(contents)
    return Preset(
        path=folder,
        weights=folder,
        is_own_run=True,
        model_class=model_class,
        head_settings=head_settings,
        recorded_settings=contents["origin"]["settings"],
        model_json=contents,
    )


def _split_task(contents: ModelJson) -> tuple[str | None, HeadSettings]:
    """Returns (class of the model, settings of its head) of a model.json."""
    settings = contents.get("task", HeadSettings()).copy()
    if mode := settings.get("output_mode"):
        settings.setdefault("problem_type", kinds.PROBLEM_TYPE_OF_MODE[mode])
    model_class = settings.pop("name", None)
    return model_class, settings


def _read_folder(
    folder: Path, path: str, flag: str, is_own_run: bool
) -> Preset:
    """Reads the files in the folder of the weights at a path.

    `path` is the attribute `weights` of the Preset. `flag` and `is_own_run` are
    its attributes of these names.
    """
    contents = model_json.read_model_json(folder)
    model_class, head_settings = _split_task(contents)
    huggingface_config = _find_first_file(folder, [CONFIG_FILE])
    if huggingface_config and not model_class:
        # A model.json may only list the files of the folder.
        model_class, head_settings = read_model_class(huggingface_config)
    recorded_settings = contents.get("origin", {}).get("settings", {})
    stated_casing = _read_casing(folder)
    _check_casing(folder, stated_casing, recorded_settings)
    return Preset(
        path=str(folder),
        weights=path,
        flag=flag,
        is_own_run=is_own_run,
        config_file=_find_config(folder, path),
        vocab_file=_find_vocabulary(folder),
        stated_casing=stated_casing,
        model_class=model_class,
        labels=_read_labels(
            folder, huggingface_config, head_settings, recorded_settings
        ),
        pooling=huggingface_pooling.read_pooling(folder)
        or kerashub_config.read_embedder_pooling(folder),
        head_settings=head_settings,
        recorded_settings=recorded_settings,
        dev_set_rule=parse_dev_set_rule(
            contents, folder / model_json.MODEL_JSON_FILE
        ),
        model_json=contents,
    )


def _find_config(folder: Path, path: str) -> str | None:
    names = [*config_names(path)]
    if object_config.is_encoder(folder):
        names.append(object_config.SAVED_MODEL_FILE)
    return _find_first_file(folder, names)


def _find_vocabulary(folder: Path) -> str | None:
    names = ["vocab.txt", kerashub_config.VOCAB_FILE, TOKENIZER_FILE]
    if object_config.is_encoder(folder):
        names.append(object_config.VOCAB_FILE)
    return _find_first_file(folder, names)


def _read_casing(folder: Path) -> StatedCasing:
    stated_casing = read_stated_casing(folder)
    if not stated_casing and object_config.is_encoder(folder):
        stated_casing = object_config.read_saved_model_casing(folder)
    return stated_casing


def _find_first_file(folder: Path, names: Iterable[str]) -> str | None:
    files = (folder / name for name in names)
    return next((str(file) for file in files if file.is_file()), None)


def _read_labels(
    folder: Path,
    huggingface_config: str | None,
    head_settings: HeadSettings,
    recorded_settings: TrainingSettings,
) -> list[str] | None:
    """Returns the names of the outputs, on which all files must agree.

    Args:
        folder: folder of the weights.
        huggingface_config: path of config.json, None if it is missing.
        head_settings: settings of the head.
        recorded_settings: settings of the run.
    """
    stated: list[tuple[Path, Sequence[str] | None]] = []
    if huggingface_config:
        config_labels = read_config_labels(huggingface_config)
        stated.append((Path(huggingface_config), config_labels))
    file = folder / model_json.MODEL_JSON_FILE
    stated.append((file, head_settings.get("labels")))
    stated.append((file, recorded_settings.get("labels")))
    return read_labels(folder, stated)


def _check_casing(
    folder: Path,
    stated_casing: StatedCasing,
    recorded_settings: TrainingSettings,
) -> None:
    """Raises a ValueError if model.json records another casing than a file."""
    recorded = recorded_settings.get("tokenizer", {}).get("do_lower_case")
    stated = stated_casing.get("do_lower_case")
    if None not in (recorded, stated) and recorded != stated:
        raise ValueError(
            f"{stated_casing['file']} sets lower-casing to {stated}, but "
            f"{folder / model_json.MODEL_JSON_FILE} to {recorded}. Correct or "
            "remove the wrong file"
        )


def folder_of(path: StrPath) -> str:
    """Returns the folder of a checkpoint. A folder is returned unchanged."""
    path = os.fspath(path)
    return (path if os.path.isdir(path) else os.path.dirname(path)) or "."
