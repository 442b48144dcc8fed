"""Defines the options that change the replies of text tasks."""

import dataclasses

from command_line.flags import flag


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplyOptions:
    """Options that change the contents of replies.

    The methods of `TextModel` have them as arguments, and predict.py as flags.
    """

    top_k: int = flag(
        5, "fill-mask: number of WordPieces to return per [MASK].", at_least=1
    )
    min_probability: float = flag(
        0.0,
        'classify: write "label": null if no label is at least this probable.',
        at_least=0.0,
        at_most=1.0,
    )
    n_best: int = flag(
        1, "answer: maximum number of answers per question.", at_least=1
    )
    tokens: bool = flag(
        False, "embed: also write each WordPiece and its vector."
    )


DEFAULT_REPLY_OPTIONS = ReplyOptions()
