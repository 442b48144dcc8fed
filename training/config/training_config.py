"""The flags of every training run, and what follows from them.

The flags are of the training loop with the run's folder, of the optimizer, and
of a teacher. training/preparation/ completes them with the values of the
model's folder. This module imports no TensorFlow.
"""

import abc
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import (
    ClassVar,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
)

from exporting.export_options import ExportFormatOptions
from files import json_files
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.reading.preset import NetworkArguments
from model_folders.training_settings import RunFlagsEntry
from options import fields
from options.fields import PathType, Role, group
from options.path_flags import STATE_FOLDER
from training.config.model_config import ModelConfig

OptimizerName: TypeAlias = Literal["adamw", "lamb"]
ScheduleName: TypeAlias = Literal["original", "continuous"]
# Roles of the flags that must not change when a run is resumed.
_KEPT_ROLES = (Role.IDENTITY, Role.HEAD, Role.TRAINING)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Flags of the training loop, the run's folder and what is kept in it."""

    output_dir: str = fields.neutral_option(
        ...,
        "Folder for checkpoints, records and results.",
        path_type=PathType.RUN_FOLDER,
    )
    do_train: bool = fields.neutral_option(False, "Train on the train set.")
    do_eval: bool = fields.neutral_option(False, "Evaluate on the dev set.")
    train_batch_size: int = fields.training_option(
        32, "Number of examples in a training batch.", at_least=1
    )
    gradient_accumulation_steps: int = fields.training_option(
        1, "Number of batches to accumulate per weight update.", at_least=1
    )
    gradient_checkpointing: bool = fields.training_option(
        False,
        "Recompute activations in the backward pass. Training then needs less "
        "memory, but about a third more time.",
    )
    trim_padding: bool = fields.training_option(
        False,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack several short inputs into one row for attention. Ignored on a "
        "TPU and with --jit_compile. Results differ only by rounding errors, "
        "but for SQuAD, where Google's softmax includes padding positions.",
    )
    clip_norm: float = fields.training_option(
        1.0,
        "Maximum global norm of the gradient. Larger ones are scaled down.",
        at_least=1e-6,
    )
    max_hours: float | None = fields.training_option(
        None,
        "Save and stop after this many hours of training, including the hours "
        "before the run was resumed.",
        at_least=1e-9,
        may_grow=True,
    )
    freeze_layers: int = fields.training_option(
        0,
        "Freeze the embeddings and this number of the lowest blocks. 0 trains "
        "all weights.",
        at_least=0,
    )
    left_to_right: bool = fields.identity_option(
        False,
        "Let each WordPiece attend only to itself and earlier ones, as in the "
        "paper's ablation LTR. The last WordPiece is pooled instead of [CLS].",
    )
    seed: int = fields.training_option(
        12345,
        "Seed of initialization, dropout and data order.",
        at_least=0,
        at_most=2**32 - 1,
    )
    deterministic: bool = fields.training_option(
        False, "Use only operations whose results can be repeated exactly."
    )
    save_checkpoints_steps: int = fields.neutral_option(
        1000, "Number of steps between checkpoints.", at_least=1
    )
    keep_checkpoint_max: int = fields.neutral_option(
        5, "Number of newest checkpoints to keep. 0 keeps all.", at_least=0
    )
    iterations_per_loop: int = fields.neutral_option(
        1000, "On a TPU, number of training steps per host call.", at_least=1
    )
    keep_optimizer: bool = fields.neutral_option(
        True,
        "Save the optimizer's slots at the end too, to train on later. "
        "Without them, the last checkpoint is a third as large. With "
        "--data_file, the default is false.",
    )
    summary_steps: int = fields.neutral_option(
        100,
        "Number of steps between TensorBoard entries, or a tenth of a shorter "
        "training. 0 disables TensorBoard.",
        at_least=0,
    )
    export_weights: str | None = fields.neutral_option(
        None,
        "Write the weights without the optimizer's slots (a third of the size) "
        "to a folder laid out like Google's releases.",
        path_type=PathType.NEW_FOLDER,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """Flags of the optimizer and the learning rate schedule."""

    learning_rate: float = fields.training_option(
        5e-5, "Peak learning rate.", at_least=0
    )
    optimizer: OptimizerName = fields.training_option(
        "adamw",
        "adamw is the optimizer of Google's code. lamb is for batches of "
        "thousands of examples.",
        choices=get_args(OptimizerName),
    )
    # At 1, Adam's moments would never change.
    adam_beta_1: float = fields.training_option(
        0.9, "Decay rate of the first moment.", at_least=0, at_most=0.999999
    )
    adam_beta_2: float = fields.training_option(
        0.999, "Decay rate of the second moment.", at_least=0, at_most=0.999999
    )
    bias_correction: bool = fields.training_option(
        False,
        "Correct the bias of Adam's moments, unlike Google's code. This helps "
        "short runs at high learning rates. LAMB always corrects the bias.",
    )
    weight_decay: float = fields.training_option(
        0.01,
        "Decoupled weight decay. Not applied to LayerNorm and biases.",
        at_least=0,
    )
    lr_schedule: ScheduleName = fields.training_option(
        "original",
        "When the learning rate begins to decay: at step 0 (original, as in "
        "Google's code, so the rate drops right after the warmup), or after "
        "the warmup (continuous).",
        choices=get_args(ScheduleName),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationOptions:
    """Flags of a student that learns from a teacher or copies its blocks."""

    teacher: str | None = fields.training_option(
        None,
        "Folder of a larger model of the same task to learn from, such as a "
        "folder that --export_weights wrote.",
        path_type=PathType.MODEL,
    )
    distill_temperature: float = fields.training_option(
        2.0,
        "Temperature that divides the logits of teacher and student.",
        at_least=0.01,
    )
    distill_alpha: float = fields.training_option(
        0.5,
        "Weight alpha of the teacher's loss. The labels' loss is weighted by "
        "1 - alpha.",
        at_least=0,
        at_most=1,
    )
    distill_hidden: bool = fields.training_option(
        False, "Learn the output of the teacher's last block too."
    )
    init_layers: Sequence[str] | None = fields.training_option(
        None,
        "Blocks of --init_checkpoint, or else of --teacher, that initialize "
        "the model's blocks, such as 0,2,5 for a model of 3 blocks.",
    )

    @property
    def initial_blocks(self) -> list[int] | None:
        """Indices of the blocks in --init_layers, None without the flag."""
        if self.init_layers is None:
            return None
        return [int(layer) for layer in self.init_layers]


class NumSteps(NamedTuple):
    """The numbers of steps of a run.

    Attributes:
        training: number of all steps.
        warmup: number of the steps of the warmup.
        between_evaluations: number of steps between two evaluations that
            choose the best step.
    """

    training: int
    warmup: int
    between_evaluations: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig(ModelConfig, abc.ABC):
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
    @abc.abstractmethod
    def max_seq_length(self) -> int:
        """Input length in WordPieces, the flag of each script."""

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
        """{flag: value} of the flags in `NetworkArguments`.

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
