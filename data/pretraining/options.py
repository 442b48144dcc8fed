"""Options shared by all ways of making pretraining instances."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskingOptions:
    """Options of masking, shared by all three maskings.

    Attributes:
        masked_lm_prob: share of WordPieces to predict.
        do_whole_word_mask: whether a word is masked whole or not at all.
        whole_word_draw: whether the WordPieces of a word share the draw
            between [MASK], themselves and random words.
        mask_token_prob: share of the chosen WordPieces that become [MASK].
        same_token_prob: share that stay; the rest become random ones.
    """

    masked_lm_prob: float = 0.15
    do_whole_word_mask: bool = False
    whole_word_draw: bool = False
    mask_token_prob: float = 0.8
    same_token_prob: float = 0.1

    @property
    def masking(self) -> dict[str, bool | float]:
        """These options alone, {name: value}."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(MaskingOptions)
        }

    def check_shares(self) -> None:
        """Checks that the fractions add up to 1 at most.

        Raises:
            ValueError: they add up to more.
        """
        if self.mask_token_prob + self.same_token_prob > 1.0 + 1e-9:
            raise ValueError(
                f"--mask_token_prob={self.mask_token_prob} and "
                f"--same_token_prob={self.same_token_prob} add up to more "
                "than 1; the remainder becomes random WordPieces"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class InstanceOptions(MaskingOptions):
    """Options for turning WordPieces into instances.

    Attributes:
        max_seq_length: maximum WordPieces in an instance, at least 5.
        max_predictions_per_seq: maximum WordPieces to predict.
        random_seed: seed of every draw.
        dupe_factor: passes over each document.
        short_seq_prob: fraction of passes that aim at shorter instances.
        dynamic_masking: whether masks are left to training.
        eval_fraction: fraction of the documents held out for evaluation.
    """

    max_seq_length: int = 128
    max_predictions_per_seq: int = 20
    random_seed: int = 12345
    dupe_factor: int = 10
    short_seq_prob: float = 0.1
    dynamic_masking: bool = False
    eval_fraction: float = 0.0
