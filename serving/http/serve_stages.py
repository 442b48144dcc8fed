"""The stages of serve.py: from its flags to the running server.

`serve_models` takes the results of `find_export_folders` and `read_token`, so
that all flags are checked before it imports the packages of the server.
"""

import os
import re
import signal
from collections.abc import Mapping, Sequence
from types import FrameType

from absl import logging

from dependencies.installation import extra_of, install_command
from options.fields import PathType
from options.path_flags import (
    PathFlag,
    check_paths,
    expand_home,
    list_path_flags,
)
from serving.engines import find_export_folder
from serving.http.serve_config import ServeConfig


def end_at_signals() -> None:
    """Ends the process at SIGTERM and Ctrl-C.

    Later, the server handles these signals itself.
    """
    # Commands in the background of a shell ignore SIGINT.
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, _end_at_once)


def _end_at_once(signal_number: int, frame: FrameType | None) -> None:
    """Ends the process, as a handler of a signal.

    Nothing needs to be cleaned up before the server runs. Python cannot end
    cleanly while TensorFlow is imported.
    """
    os._exit(0)


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
        models[name] = expand_home(path, PathType.MODEL)
    return models


def find_export_folders(config: ServeConfig) -> dict[str, str]:
    """Returns {name: folder of the export} of --model. Checks all paths.

    Raises:
        ValueError: two models have the same name.
        OSError: a path does not exist, or a folder contains no export.
    """
    models = parse_models(config.model)
    folders = [
        PathFlag("model", path, PathType.MODEL) for path in models.values()
    ]
    check_paths([*folders, *list_path_flags(config)])
    return {
        name: str(find_export_folder(path)) for name, path in models.items()
    }


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


def check_allowed_origins(allowed_origins: Sequence[str], token: str) -> None:
    """Checks the values of --allow_origin.

    Raises:
        ValueError: a value is not an origin, or all origins may use a token.
    """
    for allowed_origin in allowed_origins:
        if allowed_origin == "*" and token:
            raise ValueError(
                "--allow_origin=* lets every page use the server, but "
                "--token_file keeps it for some; name the origins"
            )
        if not re.fullmatch(
            r"\*|null|[a-z][a-z0-9+.-]*://[^/\s]+", allowed_origin
        ):
            raise ValueError(
                f"--allow_origin={allowed_origin} must be SCHEME://HOST or "
                "SCHEME://HOST:PORT, without a path or a slash at the end"
            )


def serve_models(
    config: ServeConfig, models: Mapping[str, str], token: str
) -> None:
    """Replies to requests until SIGTERM or Ctrl-C.

    Args:
        config: the address, the limits, the engine and the allowed origins.
        models: {name: folder of the export}.
        token: bearer token that clients must send, "" for no token.

    Raises:
        ValueError: a package of the server is not installed, the port is in
            use, or a model cannot be served.
        OSError: a model is damaged.
    """
    try:
        # Import late, so that flags are checked without the server's packages.
        from serving.http import app, server_process
        from serving.http.server_state import ExportToServe
    except ModuleNotFoundError as error:
        if extra_of(error.name) is None:
            # The code of this project is wrong, or its installation.
            raise
        raise ValueError(
            f"the server needs {error.name}: {install_command(error.name)}"
        ) from None

    _warn_if_open_to_all(config.host, token)
    server_app = app.ServerApp.create(
        {
            name: ExportToServe(folder, config.engine_options)
            for name, folder in models.items()
        },
        token,
        config.limits,
        config.allow_origin,
    )
    server_process.serve_until_signal(server_app, config.host, config.port)


def _warn_if_open_to_all(host: str, token: str) -> None:
    """Warns if other machines can use the server without a token."""
    is_local = host in ("127.0.0.1", "::1", "localhost")
    if not token and not is_local:
        logging.warning(
            "--host=%s: anyone who can reach this machine can use the server; "
            "set --token_file to require a token",
            host,
        )
