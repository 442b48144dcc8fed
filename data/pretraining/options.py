"""Options shared by all ways of making pretraining instances."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class InstanceOptions:
    """Options for turning WordPieces into instances.

    Attributes:
        max_seq_length: maximum WordPieces in an instance, at least 5.
        max_predictions_per_seq: maximum WordPieces to predict.
        random_seed: seed of every draw.
        dupe_factor: passes over each document.
        masked_lm_prob: share of WordPieces to predict.
        short_seq_prob: fraction of passes that aim at shorter instances.
        do_whole_word_mask: whether a word is masked whole or not at all.
        whole_word_draw: whether the WordPieces of a word share the draw
            between [MASK], themselves and random words.
        dynamic_masking: whether masks are left to training.
        mask_token_prob: share of the chosen WordPieces that become [MASK].
        same_token_prob: share that stay; the rest become random ones.
        eval_fraction: fraction of the documents held out for evaluation.
    """

    max_seq_length: int = 128
    max_predictions_per_seq: int = 20
    random_seed: int = 12345
    dupe_factor: int = 10
    masked_lm_prob: float = 0.15
    short_seq_prob: float = 0.1
    do_whole_word_mask: bool = False
    whole_word_draw: bool = False
    dynamic_masking: bool = False
    mask_token_prob: float = 0.8
    same_token_prob: float = 0.1
    eval_fraction: float = 0.0
