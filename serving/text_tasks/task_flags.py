"""The flags of predict.py and serve.py that classes of serving/ read too.

Each class is a group of flags, which the scripts include in their `Config`.
"""

import dataclasses

from command_line.flags import flag
from serving.engines.runtimes import RUNTIME_OF_FORMAT, ExportFormat


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineFlags:
    """Flags of predict.py and serve.py that choose and configure a runtime."""

    engine: ExportFormat | None = flag(
        None,
        "Runtime that runs the model. The default is the first of these "
        "runtimes that is installed and whose format the model's folder "
        "contains. But onnx and saved_model come before the others if they can "
        "use an NVIDIA GPU.",
        choices=[*RUNTIME_OF_FORMAT],
    )
    num_threads: int | None = flag(
        None, "Number of threads. The default is one per CPU.", at_least=1
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskFlags:
    """Flags of predict.py that change the contents of replies."""

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


DEFAULT_TASK_FLAGS = TaskFlags()


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
