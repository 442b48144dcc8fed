"""Defines `StartingPoint`: the flags of a training, and what they start with.

`load_starting_point` in preparation/ creates it, and the rows of --data_file
then change its flags. This module imports no TensorFlow.
"""

import dataclasses
from typing import Generic, TypeVar

from data.text.tokenization import FullTokenizer
from model_folders.bert_config import BertConfig
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from options.parsed_command import ParsedCommand
from training.config.training_config import TrainingConfig
from training.dev_set.rules import DevSetRule

# Covariant, so that what takes a StartingPoint[TrainingConfig] accepts that of
# any script.
TrainingConfigT_co = TypeVar(
    "TrainingConfigT_co", bound=TrainingConfig, covariant=True
)


@dataclasses.dataclass(frozen=True)
class InitialFolder:
    """The folder of the weights that a training command begins with.

    Attributes:
        preset: contents of the files in the folder, None for random weights.
        is_own_run: whether the folder is --output_dir, so that the command
            resumes, evaluates or exports the run in it.
    """

    preset: Preset | None = None
    is_own_run: bool = False

    @property
    def run_preset(self) -> Preset | None:
        """The Preset of the run in --output_dir, None if it has no run."""
        return self.preset if self.is_own_run else None

    @property
    def training_settings(self) -> TrainingSettings:
        """The settings of the run that trained the weights, if any."""
        if self.preset is None:
            return TrainingSettings()
        return self.preset.training_settings


@dataclasses.dataclass(frozen=True)
class StartingPoint(Generic[TrainingConfigT_co]):
    """All that a training command knows before it reads its data.

    For example, a new run with --init_checkpoint=models/bert has the
    `preset.folder` "models/bert", and `is_own_run` is False. When the same
    command resumes the run in --output_dir=runs/mrpc, the `preset.folder` is
    "runs/mrpc", and `is_own_run` is True.

    Attributes:
        parsed: the flags, and who decided them.
        initial_folder: the folder of the weights.
        bert_config: configuration of the network.
        tokenizer: tokenizer of the texts, None without --vocab_file.
        dev_set_rule: which rows of --data_file are the dev set, None without
            the flag.
    """

    parsed: ParsedCommand[TrainingConfigT_co]
    initial_folder: InitialFolder
    bert_config: BertConfig
    tokenizer: FullTokenizer | None
    dev_set_rule: DevSetRule | None = None

    @property
    def preset(self) -> Preset | None:
        """Contents of the initial weights' folder, None for random weights."""
        return self.initial_folder.preset

    @property
    def run_preset(self) -> Preset | None:
        """The Preset of the run in --output_dir, None if it has no run."""
        return self.initial_folder.run_preset

    @property
    def is_own_run(self) -> bool:
        """Whether the initial weights are those of the run in --output_dir."""
        return self.initial_folder.is_own_run

    @property
    def training_settings(self) -> TrainingSettings:
        """The settings that trained the initial weights, if known."""
        return self.initial_folder.training_settings

    @property
    def config(self) -> TrainingConfigT_co:
        """The flags, those included that files have decided so far."""
        return self.parsed.config

    @property
    def set_by_user(self) -> frozenset[str]:
        """Names of the flags that the user set."""
        return self.parsed.set_by_user

    @property
    def required_tokenizer(self) -> FullTokenizer:
        """The tokenizer of a script whose --vocab_file must be set.

        Raises:
            ValueError: there is no tokenizer.
        """
        if self.tokenizer is None:
            raise ValueError("missing required flag: --vocab_file")
        return self.tokenizer
