"""Serves exported models over HTTP with TensorFlow Serving's REST protocol.

    python serve.py --model=output/squad_model --model=mrpc=output/mrpc_model

    GET  /v1/models/NAME[/versions/N][/metadata]
    POST /v1/models/NAME[/versions/N]:predict
    GET  /         a page to try the models in a browser
    GET  /healthz, /readyz, /metrics

The server stops at SIGTERM or Ctrl-C, after answering all accepted requests.
"""

import dataclasses
import functools
import os
import re
from collections.abc import Sequence
from concurrent import futures
from pathlib import Path

from absl import logging

from files import flags, path_checks, requirements
from files.flags import flag
from files.paths import Kind, PathFlag
from serving.server.limits import Limits
from training.command_line import cli


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Limits):
    """Flags of the script: the models, the server, and limits on requests."""

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
        kind=Kind.INPUT_FILE,
    )
    request_log: str | None = flag(
        None,
        "File to which the server appends a line of JSON for each request. The "
        "line does not contain the texts of the request.",
        kind=Kind.OUTPUT_FILE,
    )
    poll_s: float = flag(
        1.0,
        "Number of seconds between checks for new versions of the models.",
        at_least=0.05,
    )


def parse_models(given: Sequence[str]) -> dict[str, str]:
    """Returns {name: folder} from the values of --model.

    Raises:
        ValueError: a name is invalid, or occurs twice.
        FileNotFoundError: a folder does not exist.
    """
    models: dict[str, str] = {}
    for value in given:
        name, mark, path = value.partition("=")
        if not mark:
            name, path = os.path.basename(os.path.normpath(value)), value
        if not path.strip():
            raise ValueError(
                f"--model={value} is empty, perhaps because a shell variable "
                "is not set. Use the folder of a model"
            )
        if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            raise ValueError(
                f"--model={value}: the name {name!r} may contain only letters, "
                "digits and . _ - (at most 100); use --model=NAME=DIR"
            )
        if name in models:
            raise ValueError(
                f"--model={value}: two models are named {name}; use "
                "--model=NAME=DIR with another name"
            )
        if not os.path.isdir(path):
            raise FileNotFoundError(
                f"--model={value}: the folder {path!r} does not exist; use a "
                "folder that --export_dir wrote"
            )
        models[name] = path
    return models


def read_token(path: str | None) -> str:
    """Returns the token in --token_file, or "" if the flag is not set.

    Raises:
        ValueError: the file is longer than 4096 bytes, or does not contain
            exactly one word of 8 or more ASCII characters.
    """
    if path is None:
        return ""
    with open(path, "rb") as file:
        content = file.read(4097)
    token = content.strip()
    if len(content) > 4096 or not re.fullmatch(rb"[\x21-\x7e]{8,}", token):
        raise ValueError(
            f"--token_file={path} must contain one word of 8 or more ASCII "
            "characters, and at most 4096 bytes"
        )
    return token.decode()


def main(config: Config) -> int:
    """Loads the models, and answers requests until SIGTERM or Ctrl-C."""
    models = parse_models(config.model)
    given = [PathFlag("model", path, Kind.MODEL) for path in models.values()]
    path_checks.check_paths([*given, *flags.path_flags(config)])
    token = read_token(config.token_file)
    try:
        # Import late, so that flags are checked without the server's packages.
        from serving.server import app, monitoring, process, versions
    except ImportError as error:
        raise ValueError(
            f"serve.py needs {error.name}: "
            f"{requirements.install('requirements/serve.txt')}"
        ) from None

    # Listen before loading the models. Then an error about the address appears
    # at once, and not after minutes of loading.
    listener = process.listen(config.host, config.port)
    monitor = monitoring.Monitoring(config.request_log)
    served = {
        name: versions.ServedModel(name, Path(path), config, monitor.on_batch)
        for name, path in models.items()
    }
    # Load the models in parallel, because each model has its own process.
    with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        [*pool.map(versions.ServedModel.refresh, served.values())]
    if not token and config.host not in ("127.0.0.1", "::1", "localhost"):
        logging.warning(
            "--host=%s: anyone who can reach this machine can use the server; "
            "set --token_file to require a token",
            config.host,
        )
    server = app.Server(served, config, monitor, token, config.poll_s)
    process.serve(server, listener)
    for model in served.values():
        model.current.close(config.timeout_s)
    logging.info("stopped: all accepted requests are answered")
    return 0


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
