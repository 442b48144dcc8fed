"""Defines the flags that limit requests."""

import dataclasses

from command_line.flags import flag


@dataclasses.dataclass(frozen=True, kw_only=True)
class LimitFlags:
    """Flags of serve.py that limit requests."""

    max_body_bytes: int = flag(
        1 << 18, "Maximum size of a request's body, in bytes.", at_least=1
    )
    max_texts: int = flag(
        128,
        "Maximum number of texts in a request. A pair of texts counts as one.",
        at_least=1,
    )
    # Measured: of the largest request, no step takes longer than 0.15 s on one
    # CPU, except for running a large network. Other requests wait for a step.
    max_pieces: int = flag(
        1 << 14,
        "Maximum number of WordPieces that the model reads in a request, so "
        "that a request does not delay those of other clients. Where the model "
        "cuts a text, only the WordPieces before the cut count.",
        at_least=1,
    )
    timeout_s: float = flag(
        30.0,
        "Maximum seconds to receive a request, maximum seconds to compute its "
        "reply, and maximum seconds to send the reply.",
        at_least=0.1,
    )
