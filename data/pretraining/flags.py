"""Flags of pretraining instances and their masks: InstanceOptions."""

from absl import flags


def define_instance_flags() -> None:
    """Defines how WordPieces become instances."""
    flags.DEFINE_integer(
        "max_seq_length",
        128,
        "WordPieces in an instance.",
        lower_bound=5,
        upper_bound=1 << 16,
    )
    flags.DEFINE_integer(
        "max_predictions_per_seq",
        20,
        "Maximum number of masked WordPieces in an instance.",
        lower_bound=1,
    )
    flags.DEFINE_integer("random_seed", 12345, "Seed of all random draws.")
    flags.DEFINE_integer(
        "dupe_factor",
        10,
        "Passes over the input, each with different masks.",
        lower_bound=1,
        upper_bound=10_000,
    )
    flags.DEFINE_float(
        "short_seq_prob",
        0.1,
        "Fraction of sequences made shorter than max_seq_length.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    define_masking_flags()
    # Flags of the scalable form, which any of them selects.
    flags.DEFINE_bool(
        "whole_word_draw",
        None,
        "Decide once for each word, not for each WordPiece, whether it becomes "
        "[MASK], stays as it is, or becomes a random word.",
    )
    flags.DEFINE_bool(
        "dynamic_masking",
        None,
        "Leave masking to run_pretraining.py, which draws new masks in every "
        "epoch; --dupe_factor=1 is then enough.",
    )
    flags.DEFINE_float(
        "eval_fraction",
        None,
        "Fraction of the documents to hold out for evaluation. They are "
        "written, masked, to eval-OUTPUT; the choice depends only on the seed "
        "and the number of documents.",
        lower_bound=0.0,
        upper_bound=0.5,
    )


def define_masking_flags(where: str = "") -> None:
    """Defines how WordPieces are masked.

    Args:
        where: text to end the flags' help with, such as ", in some records".
    """
    flags.DEFINE_float(
        "masked_lm_prob",
        0.15,
        f"Fraction of WordPieces to mask{where}.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_bool(
        "do_whole_word_mask",
        False,
        f"Mask all WordPieces of a word or none{where}.",
    )
    flags.DEFINE_float(
        "mask_token_prob",
        0.8,
        f"Fraction of the WordPieces to predict that become [MASK]{where}.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_float(
        "same_token_prob",
        0.1,
        "Fraction left unchanged; the rest become random WordPieces.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
