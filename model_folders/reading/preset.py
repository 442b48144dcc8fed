"""Reads a folder of weights into a `Preset`: all that its files state.

This project writes model.json, bert_config.json, vocab.txt,
tokenizer_config.json and labels.txt beside weights. Google's, Hugging Face's
and KerasHub's folders contain some of these files, or similar files with other
names. settings_check.py compares a Preset with the model that loads the
weights. This module imports neither Keras nor TensorFlow.
"""

import dataclasses
import functools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias, TypedDict

from files.paths import StrPath
from model_folders import model_json
from model_folders.bert_config import HUGGINGFACE_CONFIG_FILE, BertConfig
from model_folders.formats import (
    kerashub_config,
    object_based_folders,
    sentence_transformers_config,
)
from model_folders.formats.huggingface_config import (
    PROBLEM_TYPE_OF_MODE,
    read_config_labels,
)
from model_folders.formats.huggingface_tokenizer import read_stated_casing
from model_folders.head_settings import HeadSettings, TaskEntry
from model_folders.labels import read_labels
from model_folders.model_json import ModelJson
from model_folders.reading import hub
from model_folders.reading.config_files import (
    list_config_files,
    load_config,
    read_class_and_settings,
)
from model_folders.reading.weights_paths import check_exists, folder_of
from model_folders.tokenizer_files import TOKENIZER_FILE, StatedCasing
from model_folders.training_settings import TrainingSettings


class NetworkArguments(TypedDict):
    """Arguments of a network for which bert_config.json contains no entry.

    Attributes:
        left_to_right: whether a token attends only to the tokens before it.
        bilstm: whether a head reads the vectors through a bidirectional LSTM.
    """

    left_to_right: bool
    bilstm: bool


@dataclasses.dataclass(frozen=True)
class Preset:
    """Everything that the files in a folder say about the weights in it.

    For example, the Preset of a classifier that was trained into the folder
    `runs/mrpc` has the `folder` "runs/mrpc", the `vocab_file`
    "runs/mrpc/vocab.txt", the `model_class` "BertClassifier" and the `labels`
    ["0", "1"].

    Some entries of model.json are attributes of their own: `head_settings` is
    its entry `task`, and `training_settings` are the `settings` of its
    provenance (`model_json.provenance_of`).

    Attributes:
        folder: path of the folder.
        weights_path: path that was passed to `read_preset`: the folder, or a
            checkpoint in it.
        source: what messages call the weights: `weights_path`, after the flag
            that names it, such as "--init_checkpoint=models/bert".
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
        head_settings: {setting: value} that decides how the outputs of the head
            are read, from model.json or from config.json. {} if neither states
            a setting.
        training_settings: settings that must not change when the run that wrote
            the folder is resumed. Empty if no run wrote it, as for Google's
            models.
        trim_padding: whether the training trimmed padding, or None if no file
            states it. A command that evaluates, predicts or exports trims
            padding as the training did, so that its outputs are equal. A new
            training that starts from the weights ignores this value.
        model_json: contents of model.json, {} if it is missing.
    """

    # Which weights these are.
    folder: str
    weights_path: str = ""
    source: str = ""
    # What the files beside any weights state.
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
    # What model.json records of the run that wrote the weights.
    training_settings: TrainingSettings = dataclasses.field(
        default_factory=TrainingSettings
    )
    trim_padding: bool | None = None
    model_json: ModelJson = dataclasses.field(default_factory=ModelJson)

    @property
    def network_arguments(self) -> NetworkArguments:
        """{argument: whether the weights were trained with it}."""
        inputs = self.training_settings.inputs
        return {
            "left_to_right": inputs.get("left_to_right", False),
            "bilstm": inputs.get("bilstm", False),
        }

    @property
    def do_lower_case(self) -> bool | None:
        """Whether text is lower-cased, or None if no file states it."""
        stated = self.stated_casing.get("do_lower_case")
        if stated is None:
            tokenizer = self.training_settings.inputs.get("tokenizer", {})
            stated = tokenizer.get("do_lower_case")
        return stated

    def load_config(self) -> BertConfig | None:
        """Returns the configuration, or None if the folder contains none.

        Only the first call reads the file. Each call returns the same object.

        Raises:
            ValueError: the file is not the configuration of a BERT.
        """
        return self._config

    def load_required_config(self, file: str | None = None) -> BertConfig:
        """Returns the configuration in a file, by default in the folder.

        For the folder's own file, returns the object of `load_config`, so that
        errors about the sizes of the weights name this file.

        Raises:
            FileNotFoundError: the file does not exist, or the folder contains
                no configuration.
            ValueError: the file is not the configuration of a BERT.
        """
        if file in {None, self.config_file} and (stated := self.load_config()):
            return stated
        return load_config(file or self.folder)

    @functools.cached_property
    def _config(self) -> BertConfig | None:
        return load_config(self.config_file) if self.config_file else None


# A checkpoint or the folder that contains it, or the folder's Preset.
PathOrPreset: TypeAlias = StrPath | Preset


def read_preset(path: StrPath, flag: str = "") -> Preset:
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
    path = hub.to_local_folder(os.fspath(path))
    check_exists(path, flag)
    inner = sentence_transformers_config.read_network_folder(Path(path))
    if inner and os.path.isfile(
        os.path.join(path, inner, HUGGINGFACE_CONFIG_FILE)
    ):
        # An old folder of sentence-transformers.
        path = os.path.join(path, inner)
    return _read_folder(
        Path(folder_of(path)),
        weights_path=path,
        source=f"{flag}={path}" if flag else path,
    )


def create_preset_of_run(folder: str, contents: ModelJson) -> Preset:
    """Returns the Preset of --output_dir, to which this command's run writes.

    Args:
        folder: path of the folder.
        contents: what the run writes to model.json.
    """
    model_class, head_settings = _class_and_settings_of(contents)
    training_settings = model_json.training_settings_of(contents)
    return Preset(
        folder=folder,
        weights_path=folder,
        source=folder,
        model_class=model_class,
        head_settings=head_settings,
        training_settings=training_settings,
        trim_padding=_find_trim_padding(head_settings, training_settings),
        model_json=contents,
    )


def _class_and_settings_of(
    contents: ModelJson,
) -> tuple[str | None, HeadSettings]:
    """Returns (class of the model, settings of its head) of a model.json."""
    entry = contents.get("task", TaskEntry()).copy()
    if mode := entry.get("output_mode"):
        entry.setdefault("problem_type", PROBLEM_TYPE_OF_MODE[mode])
    model_class = entry.pop("name", None)
    return model_class, entry


def _find_trim_padding(
    head_settings: HeadSettings, training_settings: TrainingSettings
) -> bool | None:
    """Returns the `trim_padding` of a Preset."""
    # The copy of a model may state it with the settings of the head.
    in_copy = head_settings.get("trim_padding")
    run_flags = training_settings.inputs.get("flags", {})
    return run_flags.get("trim_padding", in_copy)


def _read_folder(folder: Path, *, weights_path: str, source: str) -> Preset:
    """Reads the files in a folder of weights."""
    contents = model_json.read_model_json(folder)
    model_class, head_settings = _class_and_settings_of(contents)
    config_json = _find_first_file([folder / HUGGINGFACE_CONFIG_FILE])
    if config_json and not model_class:
        # A model.json may only list the files of the folder.
        model_class, head_settings = read_class_and_settings(config_json)
    training_settings = model_json.training_settings_of(contents)
    stated_casing = _read_casing(folder)
    _check_casing(folder, stated_casing, training_settings)
    return Preset(
        folder=str(folder),
        weights_path=weights_path,
        source=source,
        config_file=_find_first_file(list_config_files(folder, weights_path)),
        vocab_file=_find_vocabulary(folder),
        stated_casing=stated_casing,
        model_class=model_class,
        labels=_read_labels(
            folder, config_json, head_settings, training_settings
        ),
        pooling=sentence_transformers_config.read_pooling(folder)
        or kerashub_config.read_embedder_pooling(folder),
        head_settings=head_settings,
        training_settings=training_settings,
        trim_padding=_find_trim_padding(head_settings, training_settings),
        model_json=contents,
    )


def _find_vocabulary(folder: Path) -> str | None:
    names = ["vocab.txt", kerashub_config.VOCAB_FILE, TOKENIZER_FILE]
    if object_based_folders.is_saved_encoder(folder):
        names.append(object_based_folders.VOCAB_FILE)
    return _find_first_file(folder / name for name in names)


def _read_casing(folder: Path) -> StatedCasing:
    stated_casing = read_stated_casing(folder)
    if not stated_casing and object_based_folders.is_saved_encoder(folder):
        stated_casing = object_based_folders.read_casing_of_saved_model(folder)
    return stated_casing


def _find_first_file(paths: Iterable[StrPath]) -> str | None:
    return next((str(path) for path in paths if os.path.isfile(path)), None)


def _read_labels(
    folder: Path,
    config_json: str | None,
    head_settings: HeadSettings,
    training_settings: TrainingSettings,
) -> list[str] | None:
    """Returns the names of the outputs, on which all files must agree.

    Args:
        folder: folder of the weights.
        config_json: path of config.json, None if it is missing.
        head_settings: settings of the head.
        training_settings: settings of the run.
    """
    stated: list[tuple[Path, Sequence[str] | None]] = []
    if config_json:
        config_labels = read_config_labels(config_json)
        stated.append((Path(config_json), config_labels))
    file = folder / model_json.MODEL_JSON_FILE
    stated.append((file, head_settings.get("labels")))
    stated.append((file, training_settings.head.get("labels")))
    return read_labels(folder, stated)


def _check_casing(
    folder: Path,
    stated_casing: StatedCasing,
    training_settings: TrainingSettings,
) -> None:
    """Raises a ValueError if model.json records another casing than a file."""
    tokenizer = training_settings.inputs.get("tokenizer", {})
    recorded = tokenizer.get("do_lower_case")
    stated = stated_casing.get("do_lower_case")
    if None not in (recorded, stated) and recorded != stated:
        raise ValueError(
            f"{stated_casing['file']} sets lower-casing to {stated}, but "
            f"{folder / model_json.MODEL_JSON_FILE} to {recorded}. Correct or "
            "remove the wrong file"
        )
