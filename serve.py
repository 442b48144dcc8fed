"""Answers HTTP requests with exported models.

    python serve.py --model=output/squad_model --model=mrpc=output/mrpc_model

    GET  /                        a page to try the models in a browser
    GET  /healthz                 200 once every model is loaded
    GET  /v1/models/NAME          whether the model is loaded
    POST /api/models/NAME/TASK    what predict.py answers to the same JSON
    POST /v1/models/NAME:predict  {"instances": [texts or objects]}

The server stops at SIGTERM or Ctrl-C, after answering all accepted requests.
"""

import dataclasses
import functools
import os
import re
import signal
from collections.abc import Mapping, Sequence

from absl import logging

from command_line import cli, config_values, flags
from command_line.flags import flag, group
from command_line.path_flags import (
    PathFlag,
    PathKind,
    check_paths,
    expand_home,
)
from imports.installation import install_command
from serving.engines import find_export
from serving.engines.engine_flags import EngineFlags
from serving.http.limit_flags import LimitFlags


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the script: the models, the server, and limits on requests."""

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


def parse_models(values: Sequence[str]) -> dict[str, str]:
    """Returns {name: folder} from the values of --model.

    Raises:
        ValueError: two models have the same name.
    """
    models: dict[str, str] = {}
    for value in values:
        name, mark, path = value.partition("=")
        if not mark:
            name, path = os.path.basename(os.path.normpath(value)), value
        if name in models:
            raise ValueError(
                f"--model={value}: two models are named {name}; use "
                "--model=NAME=DIR with another name"
            )
        models[name] = expand_home(path, PathKind.MODEL)
    return models


def read_token(path: str | None) -> str:
    """Returns the token in --token_file, or "" if the flag is not set.

    Raises:
        ValueError: the file does not contain exactly one word of 8 to 4096
            ASCII characters.
    """
    if path is None:
        return ""
    with open(path, encoding="utf-8") as file:
        token = file.read().strip()
    if not re.fullmatch("[!-~]{8,4096}", token):
        raise ValueError(
            f"--token_file={path} must contain one word of 8 to 4096 ASCII "
            "characters"
        )
    return token


def check_origins(origins: Sequence[str], token: str) -> None:
    """Checks the values of --allow_origin.

    Raises:
        ValueError: a value is not an origin, or all origins may use a token.
    """
    for origin in origins:
        if origin == "*" and token:
            raise ValueError(
                "--allow_origin=* lets every page use the server, but "
                "--token_file keeps it for some; name the origins"
            )
        if not re.fullmatch(r"\*|null|[a-z][a-z0-9+.-]*://[^/\s]+", origin):
            raise ValueError(
                f"--allow_origin={origin} must be SCHEME://HOST or "
                "SCHEME://HOST:PORT, without a path or a slash at the end"
            )


def find_exports(config: Config) -> dict[str, str]:
    """Returns {name: folder of the export} of --model. Checks all paths.

    Raises:
        ValueError: two models have the same name.
        OSError: a path does not exist, or a folder contains no export.
    """
    models = parse_models(config.model)
    folders = [
        PathFlag("model", path, PathKind.MODEL) for path in models.values()
    ]
    check_paths([*folders, *config_values.list_path_flags(config)])
    return {name: str(find_export(path)) for name, path in models.items()}


def serve_models(config: Config, models: Mapping[str, str], token: str) -> None:
    """Answers requests until SIGTERM or Ctrl-C.

    Args:
        config: flags of the script.
        models: {name: folder of the export}.
        token: bearer token that clients must send. "" = none.

    Raises:
        ValueError: a package of the server is not installed, the port is in
            use, or a model cannot be served.
        OSError: a model is damaged.
    """
    try:
        # Import late, so that flags are checked without the server's packages.
        from serving.http import app, server_process
        from serving.http.export_to_serve import ExportToServe
    except ImportError as error:
        raise ValueError(
            f"the server needs {error.name}: {install_command(error.name)}"
        ) from None

    if not token and config.host not in ("127.0.0.1", "::1", "localhost"):
        logging.warning(
            "--host=%s: anyone who can reach this machine can use the server; "
            "set --token_file to require a token",
            config.host,
        )
    server_app = app.ServerApp.create(
        {
            name: ExportToServe(folder, config.engine)
            for name, folder in models.items()
        },
        token,
        config.limits,
        config.allow_origin,
    )
    server_process.serve_until_signal(server_app, config.host, config.port)


def _end_at_signals() -> None:
    """Ends the process at SIGTERM and Ctrl-C.

    Later, the server handles these signals itself.
    """
    # Commands in the background of a shell ignore SIGINT.
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: os._exit(0))


def main(parsed: flags.ParsedCommand[Config]) -> int:
    """Loads the models, and answers requests until SIGTERM or Ctrl-C."""
    config = parsed.config
    _end_at_signals()
    models = find_exports(config)
    token = read_token(config.token_file)
    check_origins(config.allow_origin, token)
    serve_models(config, models, token)
    return 0


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
