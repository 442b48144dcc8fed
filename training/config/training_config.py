"""The flags of every training run, and what follows from them.

training/preparation/ completes the flags with the values of the model's folder.
This module imports no TensorFlow.
"""

import dataclasses
import json
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar, cast

from files import json_files
from model_folders.model_json import MODEL_JSON_FILE, RunFlagsEntry
from model_folders.reading.preset import NetworkArguments
from options.fields import Role, group
from options.path_types import STATE_FOLDER
from serving.export_options import ExportFormatOptions
from training.config.model_config import ModelConfig
from training.config.training_options import (
    DistillationOptions,
    OptimizerOptions,
    TrainingOptions,
)

# Roles of the flags that must not change when a run is resumed.
_KEPT_ROLES = (Role.IDENTITY, Role.HEAD, Role.TRAINING)


class NumSteps(NamedTuple):
    """The numbers of steps of a run: in all, and of the warmup."""

    training: int
    warmup: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig(ModelConfig):
    """Base class of the flags of a training script.

    A property is a fact that follows from flags of several groups. A command
    calls the methods in this order:

    1. `with_implied_flags` and `check_early`, before any file is read.
    2. `describe_missing` and `check`, after the folder of the weights has
       decided flags too.
    """

    export: ExportFormatOptions = group(ExportFormatOptions)
    optimizer: OptimizerOptions = group(OptimizerOptions)
    training: TrainingOptions = group(TrainingOptions)
    distillation: DistillationOptions = group(DistillationOptions)

    # A command must set at least one of these flags.
    actions: ClassVar[tuple[str, ...]] = (
        "do_train",
        "do_eval",
        "export_dir",
        "export_weights",
    )

    @property
    def model_class(self) -> str | None:
        """Name of the model's class, maybe a user's own, None for any class."""
        return None

    @property
    def required_flags(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return ("bert_config_file", "vocab_file")

    @property
    def max_seq_length(self) -> int | None:
        """Input length in WordPieces, None if no flag states it."""
        return None

    def check_early(self) -> None:
        """Checks the flags of the export."""
        self.export.check()

    def check(self, set_by_user: frozenset[str]) -> None:
        """Checks that flags do not contradict each other.

        Args:
            set_by_user: names of the flags that the user set.

        Raises:
            ValueError: two flags contradict each other, or the flags request
                nothing.
        """
        values = self.option_values()
        if not any(values[action] for action in self.actions):
            names = " or ".join(f"--{action}" for action in self.actions)
            raise ValueError(f"nothing to do: set {names}")
        has_lstm = self.export.export_dir and self.network_arguments["bilstm"]
        if has_lstm and "litert" in self.export.export_formats:
            raise ValueError(
                f"--export_format={self.export.export_format}: LiteRT cannot "
                "run the LSTM of --bilstm; choose onnx or saved_model"
            )
        for name in ("distill_temperature", "distill_alpha", "distill_hidden"):
            if name in set_by_user and not self.distillation.teacher:
                raise ValueError(f"--{name} needs --teacher")
        copies_blocks = self.distillation.init_layers is not None
        if copies_blocks and not self.initial_checkpoint:
            raise ValueError(
                "--init_layers needs --init_checkpoint or --teacher"
            )

    def non_path_values(self, *roles: Role) -> dict[str, object]:
        """Returns {name: value} of the flags with these roles that are no path.

        model.json contains these values. A path would tell more of the user's
        machine than of the run.
        """
        values = self.option_values()
        return {
            flag.name: values[flag.name]
            for flag in self.list_options(*roles)
            if flag.path_type is None
        }

    def to_flags_entry(self) -> RunFlagsEntry:
        """Returns the flags that a resumed run must keep, for model.json.

        Tuples become lists, as in the file.
        """
        entry = json_files.parse_json(
            json.dumps(self.non_path_values(*_KEPT_ROLES)),
            MODEL_JSON_FILE,
            may_be_infinite=True,
        )
        return cast("RunFlagsEntry", entry)

    @property
    def keeps_best(self) -> bool:
        """Whether training runs evaluations and saves the best step."""
        return False

    @property
    def loads_best(self) -> bool:
        """Whether --init_checkpoint and exports take a run's best step."""
        return True

    @property
    def starts_from_best(self) -> bool:
        """Whether a command without training starts from the best step.

        Otherwise the command starts from the newest checkpoint in --output_dir.
        Pretraining evaluates this checkpoint, and then exports the best step.
        """
        return False

    @property
    def initial_checkpoint(self) -> str | None:
        """The checkpoint that a new run starts from. None: random weights."""
        if self.model.init_checkpoint:
            return self.model.init_checkpoint
        if self.distillation.init_layers is not None:
            return self.distillation.teacher
        return None

    @property
    def state_folder(self) -> Path:
        """Path of the folder with the records and the events of TensorBoard."""
        return Path(self.training.output_dir) / STATE_FOLDER

    @property
    def network_arguments(self) -> NetworkArguments:
        """{flag: value} of the flags in `NETWORK_ARGUMENTS`.

        These flags are also arguments of the model's constructor.
        """
        return {"left_to_right": self.training.left_to_right, "bilstm": False}

    @property
    def batch_size(self) -> int:
        """Number of examples in each weight update, over all devices."""
        training = self.training
        return training.train_batch_size * training.gradient_accumulation_steps

    @property
    def trims_padding(self) -> bool:
        """Whether --trim_padding is set and the devices allow any shape."""
        has_fixed_shapes = self.devices.is_tpu or self.devices.jit_compile
        return self.training.trim_padding and not has_fixed_shapes

    @property
    def steps_per_call(self) -> int:
        """Number of steps that one call of the training function runs."""
        return self.training.iterations_per_loop if self.devices.is_tpu else 1


TrainingConfigT = TypeVar("TrainingConfigT", bound=TrainingConfig)
