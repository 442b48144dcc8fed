"""Flags of fine-tuning, and the Configs that contain them."""

import dataclasses
from collections.abc import Sequence
from typing import Self, TypeVar

from data.sets.data_file_options import DataFileOptions
from data.sets.set_names import BaseSet, SetName
from model_folders.reading.preset import NetworkArguments
from options import fields
from options.fields import PathType, group, option_changes
from training.config.model_config import required_value
from training.config.training_config import (
    NumSteps,
    TrainingConfig,
    TrainingOptions,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FineTuningOptions:
    """Flags of all fine-tuning scripts, such as input length and epochs."""

    data_dir: str | None = fields.training_option(
        None,
        "Folder of the task's data files. Not needed if you only export.",
        path_type=PathType.DATA_FOLDER,
    )
    max_seq_length: int = fields.head_option(
        128,
        "Input length in WordPieces. Longer inputs are cut. With --data_file, "
        "the default suits the texts.",
        at_least=3,
    )
    do_predict: bool = fields.neutral_option(False, "Predict the test set.")
    eval_batch_size: int = fields.neutral_option(
        8, "Number of examples in an eval batch.", at_least=1
    )
    predict_batch_size: int = fields.neutral_option(
        8, "Number of examples in a test batch.", at_least=1
    )
    num_train_epochs: float = fields.training_option(
        3.0,
        "Number of training epochs. With --data_file, a small file is read up "
        "to 20 times, for 100 steps.",
        at_least=0,
        may_grow=True,
    )
    warmup_proportion: float = fields.training_option(
        0.1,
        "Fraction of the training steps used for warmup. 0.1 = 10%.",
        at_least=0,
        at_most=1,
    )
    evaluate_each_epoch: bool = fields.training_option(
        False,
        "Evaluate after each epoch of training, and keep the best weights in "
        "the folder `best` of --output_dir.",
    )
    early_stopping_patience: int = fields.training_option(
        0,
        "Evaluate after each epoch, and stop after this many evaluations "
        "without improvement. 0 disables early stopping.",
        at_least=0,
    )
    metric_for_best: str | None = fields.training_option(
        None,
        "Metric that chooses the best step. The default is the task's main "
        "metric. For eval_loss, lower values are better.",
    )
    load_best: bool = fields.decoding_option(
        True,
        "Evaluate, predict and export with the weights of the best step, if "
        "training ran evaluations.",
    )
    bilstm: bool = fields.identity_option(
        False,
        "Put a bidirectional LSTM with new weights between the network and "
        "the task's head, as the paper does for left-to-right models.",
    )
    max_export_loss: float = fields.neutral_option(
        0.5,
        "How many percentage points an export may score below the model in "
        "the task's main metric on the dev set. Otherwise the command fails.",
        at_least=0,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class FineTuningConfig(TrainingConfig):
    """Base class of the flags of a fine-tuning script."""

    training: TrainingOptions = group(
        TrainingOptions, trim_padding=option_changes(default=True)
    )
    fine_tuning: FineTuningOptions = group(FineTuningOptions)

    actions = (*TrainingConfig.actions, "do_predict")

    @property
    def required_flags(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return (*super().required_flags, *self.required_data_flags)

    @property
    def required_data_flags(self) -> tuple[str, ...]:
        """Flags that name the data which the command reads."""
        return ("data_dir",) if self.set_names else ()

    @property
    def max_seq_length(self) -> int:
        """Input length in WordPieces."""
        return self.fine_tuning.max_seq_length

    @property
    def data_file(self) -> str | None:
        """The file that the script splits itself, None if there is none."""
        return None

    def files_of(self, set_name: SetName) -> Sequence[str]:
        """Returns the files of a set that flags name, but --data_dir."""
        return [self.data_file] if self.data_file else []

    def check(self, set_by_user: frozenset[str]) -> None:
        """Also checks --metric_for_best."""
        super().check(set_by_user)
        chooses_best = self.fine_tuning.metric_for_best is not None
        if chooses_best and self.training.do_train and not self.keeps_best:
            raise ValueError(
                "--metric_for_best needs --evaluate_each_epoch or "
                "--early_stopping_patience. Set one of them"
            )

    @property
    def default_export_dir(self) -> str:
        """The folder of the export with --data_file, beside --output_dir."""
        return f"{self.training.output_dir.rstrip('/')}_model"

    @property
    def keeps_best(self) -> bool:
        """Whether training runs evaluations and saves the best step."""
        evaluates_each_epoch = self.fine_tuning.evaluate_each_epoch
        stops_early = self.fine_tuning.early_stopping_patience > 0
        return self.training.do_train and (evaluates_each_epoch or stops_early)

    @property
    def loads_best(self) -> bool:
        """Whether results and exports are of the best step, if there is one."""
        return self.fine_tuning.load_best

    @property
    def starts_from_best(self) -> bool:
        """Whether a command without training starts from the best step."""
        return self.loads_best

    @property
    def evaluates(self) -> bool:
        """Whether the command evaluates, during or after training."""
        return self.training.do_eval or self.keeps_best

    @property
    def set_names(self) -> list[BaseSet]:
        """The names, without a suffix, of the sets that the command reads."""
        is_read: dict[BaseSet, bool] = {
            "train": self.training.do_train,
            "dev": self.evaluates,
            "test": self.fine_tuning.do_predict,
        }
        return [set_name for set_name in is_read if is_read[set_name]]

    @property
    def network_arguments(self) -> NetworkArguments:
        """{flag: value} of the flags in `NetworkArguments`."""
        return super().network_arguments | {"bilstm": self.fine_tuning.bilstm}

    @property
    def eval_batch_size(self) -> int:
        """Number of records in a batch of an evaluation."""
        return self.fine_tuning.eval_batch_size

    def num_steps(self, num_examples: int) -> NumSteps:
        """Returns the numbers of steps, rounded down.

        The best step is chosen among the ends of the epochs.

        Args:
            num_examples: number of examples in an epoch.

        Raises:
            ValueError: the training would be shorter than one step.
        """
        size = self.batch_size
        epochs = self.fine_tuning.num_train_epochs
        steps = int(num_examples / size * epochs)
        if not steps:
            raise ValueError(
                f"--num_train_epochs={epochs} over {num_examples} examples is "
                f"shorter than one training step of {size} examples; set a "
                "smaller --train_batch_size or more epochs"
            )
        return NumSteps(
            training=steps,
            warmup=int(steps * self.fine_tuning.warmup_proportion),
            between_evaluations=max(num_examples // size, 1),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataFileConfig(FineTuningConfig):
    """Base class of the flags of scripts that can split one file."""

    data_file_options: DataFileOptions = group(DataFileOptions)
    report: bool = fields.neutral_option(
        False,
        "Write report.html about the dev set. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )

    @property
    def data_file(self) -> str | None:
        """The file that the script splits itself, None if there is none."""
        return self.data_file_options.data_file

    @property
    def required_data_source(self) -> str:
        """Value of --data_file or --data_dir. One of them must be set."""
        return required_value(self.data_file or self.fine_tuning.data_dir)

    @property
    def selected_task_name(self) -> str | None:
        """Name of the task, None if the script has only one task."""
        return None

    @property
    def required_data_flags(self) -> tuple[str, ...]:
        """Flags that name the data which the command reads."""
        return () if self.data_file else super().required_data_flags

    @property
    def rows_are_inputs(self) -> bool:
        """Whether each row is an input, so that rows show a suitable length."""
        return True

    def with_implied_flags(self) -> Self:
        """Returns a copy with the flags of the common job of --data_file.

        This job trains, evaluates each epoch, writes a report, and exports the
        best step.
        """
        if not self.data_file:
            return self
        training = dataclasses.replace(
            self.training,
            do_train=True,
            do_eval=True,
            keep_optimizer=False,
            keep_checkpoint_max=1,
        )
        fine_tuning = dataclasses.replace(
            self.fine_tuning, evaluate_each_epoch=True
        )
        export = dataclasses.replace(
            self.export, export_dir=self.default_export_dir
        )
        implied = self.with_groups(training, fine_tuning, export)
        return dataclasses.replace(implied, report=True)

    def check_early(self) -> None:
        """Also checks that --data_file and --data_dir are not both set."""
        if self.data_file and self.fine_tuning.data_dir:
            raise ValueError("set either --data_file or --data_dir, not both")
        super().check_early()

    def check(self, set_by_user: frozenset[str]) -> None:
        """Also checks --report and --do_predict."""
        super().check(set_by_user)
        if self.report and not self.training.do_eval:
            raise ValueError("--report needs --do_eval")
        if self.fine_tuning.do_predict and self.data_file:
            raise ValueError("--do_predict needs --data_dir, not --data_file")


DataFileConfigT = TypeVar("DataFileConfigT", bound=DataFileConfig)
