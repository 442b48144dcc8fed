"""The flags of run_squad.py, and what follows from them."""

import dataclasses
from collections.abc import Sequence

from data.sets.set_names import SetName
from data.squad.squad_options import DecodingOptions, WindowOptions
from data.tables.table_layout import LayoutOptions
from model_folders.kinds import ModelClass
from options import fields
from options.fields import PathType, group, option_changes
from training.config.fine_tuning_config import (
    FineTuningConfig,
    FineTuningOptions,
)
from training.config.training_config import TrainingOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class SquadConfig(FineTuningConfig):
    """Flags of run_squad.py: Google's flags, and flags of this project."""

    # As in Google's script, --do_eval is no flag: --do_predict also evaluates.
    training: TrainingOptions = group(
        TrainingOptions,
        without=("do_eval",),
        trim_padding=option_changes(default=False),
    )
    fine_tuning: FineTuningOptions = group(
        FineTuningOptions,
        without=("data_dir", "eval_batch_size"),
        shared=("max_seq_length",),
        do_predict=option_changes(
            help="Answer the questions of --predict_file."
        ),
        predict_batch_size=option_changes(
            help="Number of windows in a batch of prediction and evaluation."
        ),
    )
    layout_options: LayoutOptions = group(LayoutOptions)
    windows: WindowOptions = group(WindowOptions)
    decoding: DecodingOptions = group(DecodingOptions, shared=("trim_padding",))
    train_file: str | None = fields.training_option(
        None,
        "Questions to train on, a file in SQuAD's JSON format.",
        path_type=PathType.INPUT_FILE,
    )
    predict_file: str | None = fields.decoding_option(
        None,
        "Questions to answer, a file in SQuAD's JSON format.",
        path_type=PathType.INPUT_FILE,
    )
    report: bool = fields.neutral_option(
        False,
        "Write report.html about --predict_file. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )

    model_class = ModelClass.SPAN_LABELER
    actions = ("do_train", "export_dir", "export_weights", "do_predict")

    @property
    def eval_batch_size(self) -> int:
        """Number of windows in a batch, as in Google's script."""
        return self.fine_tuning.predict_batch_size

    @property
    def reads_predict_file(self) -> bool:
        """Whether the command evaluates or predicts, from --predict_file."""
        return self.evaluates or self.fine_tuning.do_predict

    @property
    def required_data_flags(self) -> tuple[str, ...]:
        """Flags that name the data which the command reads."""
        names = []
        if self.training.do_train:
            names.append("train_file")
        if self.reads_predict_file:
            names.append("predict_file")
        return tuple(names)

    def files_of(self, set_name: SetName) -> Sequence[str]:
        """Returns the file of a set's questions, [] without its flag."""
        file = self.train_file if set_name == "train" else self.predict_file
        return [file] if file else []

    def check(self, set_by_user: frozenset[str]) -> None:
        """Also checks --report."""
        super().check(set_by_user)
        if self.report and not self.fine_tuning.do_predict:
            raise ValueError("--report needs --do_predict")
