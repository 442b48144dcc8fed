"""Defines `Preset`: all that the files in a folder state about its weights.

folder_reading.py reads the files, and creates the Preset. settings_check.py
compares a Preset with the model that loads the weights.
"""

import dataclasses
import functools
from typing import TypeAlias, TypedDict

from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.model_json import (
    HeadSettings,
    ModelJson,
    TrainingSettings,
)
from model_folders.reading.config_files import load_config
from model_folders.tokenizer_files import StatedCasing


class NetworkArguments(TypedDict):
    """Arguments of a network for which bert_config.json contains no entry.

    Attributes:
        left_to_right: whether a token attends only to the tokens before it.
        bilstm: whether a head reads the vectors through a bidirectional LSTM.
    """

    left_to_right: bool
    bilstm: bool


# The names of the arguments in `NetworkArguments`.
NETWORK_ARGUMENTS = ("left_to_right", "bilstm")


@dataclasses.dataclass(frozen=True)
class Preset:
    """Everything that the files in a folder state about the weights in it.

    Some entries of model.json are attributes of their own: `head_settings` is
    its entry `task`, and `training_settings` are the `settings` of its
    provenance (`model_json.provenance_of`).

    Attributes:
        path: path of the folder.
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
            the folder is resumed. {} if no run wrote it, as for Google's
            models.
        model_json: contents of model.json, {} if it is missing.
    """

    # Which weights these are.
    path: str
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
    model_json: ModelJson = dataclasses.field(default_factory=ModelJson)

    @property
    def network_arguments(self) -> NetworkArguments:
        """{argument: whether the weights were trained with it}."""
        return {
            "left_to_right": self.training_settings.get("left_to_right", False),
            "bilstm": self.training_settings.get("bilstm", False),
        }

    @property
    def do_lower_case(self) -> bool | None:
        """Whether text is lower-cased, or None if no file states it."""
        stated = self.stated_casing.get("do_lower_case")
        if stated is None:
            tokenizer = self.training_settings.get("tokenizer", {})
            stated = tokenizer.get("do_lower_case")
        return stated

    @property
    def trim_padding(self) -> bool | None:
        """Whether padding was trimmed, or None if no file states it.

        A training decides this anew, whatever the weights that it starts from
        state. A command that only evaluates, predicts or exports the trained
        model uses this value, so that its outputs are equal.
        """
        # The copy of a model may state it with the settings of the head.
        in_copy = self.head_settings.get("trim_padding")
        run_flags = self.training_settings.get("flags", {})
        return run_flags.get("trim_padding", in_copy)

    def load_config(self) -> BertConfig | None:
        """Returns the configuration, or None if the folder contains none.

        Only the first call reads the file. Each call returns the same object.

        Raises:
            ValueError: the file is not the configuration of a BERT.
        """
        return self._config

    @functools.cached_property
    def _config(self) -> BertConfig | None:
        return load_config(self.config_file) if self.config_file else None


# A checkpoint or the folder that contains it, or the folder's Preset.
PathOrPreset: TypeAlias = StrPath | Preset
