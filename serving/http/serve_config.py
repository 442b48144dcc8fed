"""The flags of serve.py, those that limit requests among them."""

import dataclasses
from collections.abc import Sequence

from options.config import Config
from options.fields import PathType, group, option
from serving.engines import EngineOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Flags of serve.py that limit requests."""

    max_body_bytes: int = option(
        1 << 18, "Maximum size of a request's body, in bytes.", at_least=1
    )
    max_texts: int = option(
        128,
        "Maximum number of texts in a request. A pair of texts counts as one.",
        at_least=1,
    )
    # Measured: of the largest request, no slice takes longer than 0.15 s on one
    # CPU, except for running a large network. Other requests wait for a slice.
    max_pieces: int = option(
        1 << 14,
        "Maximum number of WordPieces that the model reads in a request, so "
        "that a request does not delay those of other clients. Where the model "
        "cuts a text, only the WordPieces before the cut count.",
        at_least=1,
    )
    timeout_s: float = option(
        30.0,
        "Maximum seconds to receive a request, maximum seconds to compute its "
        "reply, and maximum seconds to send the reply.",
        at_least=0.1,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServeConfig(Config):
    """Flags of serve.py: the models, the server, and limits on requests."""

    engine_options: EngineOptions = group(EngineOptions)
    model: Sequence[str] = option(
        ...,
        "NAME=DIR or DIR, the folder of an exported model, which --export_dir "
        "wrote. Repeat the flag for each model. In a folder of numbered "
        "exports, the server uses the highest number. The default of NAME is "
        "the folder's name. TensorFlow is needed only for SavedModels. A "
        "SavedModel is a program that may read and write your files: load only "
        "models that you trust.",
        is_repeated=True,
    )
    host: str = option(
        "127.0.0.1",
        "Address to listen on. With 0.0.0.0, other machines can connect.",
    )
    port: int = option(
        8501,
        "Port to listen on. With 0, the server chooses a free port.",
        at_least=0,
        at_most=65535,
    )
    token_file: str | None = option(
        None,
        "File that contains the bearer token that clients must send.",
        path_type=PathType.INPUT_FILE,
    )
    allow_origin: Sequence[str] = option(
        (),
        "Origin of web pages that may read the replies, such as "
        "https://example.com. Repeat the flag for each origin. * allows all "
        "pages. By default, only the server's own page may.",
        is_repeated=True,
    )
    limits: LimitOptions = group(LimitOptions)
