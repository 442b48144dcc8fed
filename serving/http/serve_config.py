"""The flags of serve.py."""

import dataclasses
from collections.abc import Sequence

from command_line import flags
from command_line.flags import flag, group
from command_line.path_flags import PathKind
from serving.engines.engine_flags import EngineFlags
from serving.http.limit_flags import LimitFlags


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServeConfig(flags.Config):
    """Flags of serve.py: the models, the server, and limits on requests."""

    engine: EngineFlags = group(EngineFlags)
    model: Sequence[str] = flag(
        ...,
        "NAME=DIR or DIR, the folder of an exported model, which --export_dir "
        "wrote. Repeat the flag for each model. In a folder of numbered "
        "exports, the server uses the highest number. The default of NAME is "
        "the folder's name. TensorFlow is needed only for SavedModels. A "
        "SavedModel is a program that may read and write your files: load only "
        "models that you trust.",
        is_repeated=True,
    )
    host: str = flag(
        "127.0.0.1",
        "Address to listen on. With 0.0.0.0, other machines can connect.",
    )
    port: int = flag(
        8501,
        "Port to listen on. With 0, the server chooses a free port.",
        at_least=0,
        at_most=65535,
    )
    token_file: str | None = flag(
        None,
        "File that contains the bearer token that clients must send.",
        kind=PathKind.INPUT_FILE,
    )
    allow_origin: Sequence[str] = flag(
        (),
        "Origin of web pages that may read the answers, such as "
        "https://example.com. Repeat the flag for each origin. * allows all "
        "pages. By default, only the server's own page may.",
        is_repeated=True,
    )
    limits: LimitFlags = group(LimitFlags)
