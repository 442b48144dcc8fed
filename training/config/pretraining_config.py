"""Flags of pretraining."""

import dataclasses

from data.pretraining.pretraining_options import MaskingOptions
from options import fields
from options.fields import PathType, group, option_changes
from training.config.model_config import ModelOptions
from training.config.training_config import TrainingConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class PretrainingOptions:
    """Flags of pretraining: records, input length and evaluation."""

    input_file: str = fields.training_option(
        ...,
        "TFRecord files: comma-separated paths or globs.",
        path_type=PathType.INPUT_FILES,
    )
    max_seq_length: int = fields.head_option(
        128,
        "Length of the records' sequences, in WordPieces. By default, the "
        "length of the records in --input_file.",
        at_least=1,
    )
    max_predictions_per_seq: int = fields.head_option(
        20,
        "Maximum number of masked LM predictions per record. By default, the "
        "number of the records in --input_file.",
        at_least=1,
    )
    next_sentence: bool = fields.head_option(
        True,
        "Also train on next sentence prediction. --nonext_sentence is the "
        'ablation "No NSP" of the paper.',
    )
    num_train_steps: int = fields.training_option(
        100000, "Number of training steps.", at_least=1, may_grow=True
    )
    num_warmup_steps: int = fields.training_option(
        10000, "Number of warmup steps.", at_least=0
    )
    eval_input_file: str | None = fields.decoding_option(
        None,
        "TFRecord files held out from training, to evaluate every --eval_steps "
        "steps and with --do_eval. By default, --do_eval uses --input_file, as "
        "in Google's code.",
        path_type=PathType.INPUT_FILES,
    )
    eval_steps: int = fields.training_option(
        1000, "Steps between evaluations on --eval_input_file.", at_least=1
    )
    eval_batch_size: int = fields.decoding_option(
        8, "Number of examples in an eval batch.", at_least=1
    )
    max_eval_steps: int = fields.decoding_option(
        100, "Maximum number of batches to evaluate.", at_least=1
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class PretrainingConfig(TrainingConfig):
    """Flags of run_pretraining.py."""

    model: ModelOptions = group(
        ModelOptions,
        vocab_file=option_changes(
            help="Vocabulary that the records were created with. Needed if the "
            "records were created without masks, and for an export that "
            "accepts text.",
        ),
    )
    pretraining: PretrainingOptions = group(PretrainingOptions)
    masking: MaskingOptions = group(MaskingOptions)

    required_flags = ("bert_config_file",)

    def check_early(self) -> None:
        """Also checks the fractions of masked WordPieces."""
        super().check_early()
        self.masking.check_fractions()

    @property
    def max_seq_length(self) -> int:
        """Length of the records' sequences, in WordPieces."""
        return self.pretraining.max_seq_length

    @property
    def keeps_best(self) -> bool:
        """Whether training runs evaluations and saves the best step."""
        has_dev_set = self.pretraining.eval_input_file is not None
        return self.training.do_train and has_dev_set
