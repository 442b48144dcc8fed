"""Defines the options for masking and for creating pretraining instances."""

import dataclasses

from options import fields
from options.fields import PathType


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskingOptions:
    """Options for masking, in create_pretraining_data.py and in training."""

    masked_lm_prob: float = fields.training_option(
        0.15, "Fraction of WordPieces to mask.", at_least=0.0, at_most=1.0
    )
    do_whole_word_mask: bool = fields.training_option(
        False, "Mask either all WordPieces of a word, or none of them."
    )
    mask_token_prob: float = fields.training_option(
        0.8,
        "Of the WordPieces to predict, the fraction that becomes [MASK].",
        at_least=0.0,
        at_most=1.0,
    )
    same_token_prob: float = fields.training_option(
        0.1,
        "Of the WordPieces to predict, the fraction that stays unchanged. The "
        "rest become random WordPieces.",
        at_least=0.0,
        at_most=1.0,
    )

    def check_fractions(self) -> None:
        """Checks that the fractions add up to at most 1.

        Raises:
            ValueError: the sum is larger than 1.
        """
        if self.mask_token_prob + self.same_token_prob > 1.0 + 1e-9:
            raise ValueError(
                f"--mask_token_prob={self.mask_token_prob} and "
                f"--same_token_prob={self.same_token_prob} add up to more "
                "than 1; set smaller values"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class InstanceOptions(MaskingOptions):
    """Options for turning text into pretraining instances."""

    vocab_file: str = fields.option(
        ..., "The model's vocabulary.", path_type=PathType.INPUT_FILE
    )
    do_lower_case: bool = fields.option(
        True,
        "Lower-case the text: True for uncased models, False for cased models.",
    )
    sentence_split: str | None = fields.option(
        None,
        "Split lines into sentences by the rules of this language: a code such "
        "as en or de. Needs the package sentencex.",
    )
    max_seq_length: int = fields.head_option(
        128, "Length of an instance in WordPieces.", at_least=5, at_most=1 << 16
    )
    max_predictions_per_seq: int = fields.head_option(
        20,
        "Maximum number of masked WordPieces in an instance.",
        at_least=1,
        at_most=1 << 16,
    )
    random_seed: int = fields.option(12345, "Seed of all random draws.")
    dupe_factor: int = fields.option(
        10,
        "Number of passes over the input. Each pass masks it differently.",
        at_least=1,
        at_most=10_000,
    )
    short_seq_prob: float = fields.option(
        0.1,
        "Fraction of instances whose target length is random, and mostly "
        "shorter than --max_seq_length.",
        at_least=0.0,
        at_most=1.0,
    )
    dynamic_masking: bool = fields.option(
        False,
        "Write records without masks. run_pretraining.py then masks them while "
        "it reads them, differently in each epoch, so --dupe_factor=1 is "
        "enough.",
    )
    eval_fraction: float = fields.option(
        0.0,
        "Fraction of the documents to hold out for evaluation. The script "
        "masks them and writes them to the file eval-NAME, where NAME is the "
        "name of --output_file. A hash of its text determines whether a "
        "document is held out.",
        at_least=0.0,
        at_most=0.5,
    )
