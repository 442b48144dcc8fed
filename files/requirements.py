"""Builds the command that installs packages which a script lacks."""

import os
import shlex
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).parent.parent


def install(file: str) -> str:
    """Returns the command that installs packages.

    Args:
        file: file in the project that lists the packages,
            `requirements/EXTRA.txt` or `requirements.txt`. An installed copy of
            the project lacks this file, so its command names the packages.
    """
    if (_ROOT / file).is_file():
        return f"pip install -r {file}"
    folder, name = os.path.split(file)
    extra = f'extra == "{name.removesuffix(".txt")}"' if folder else ""
    packages = []
    for requirement in metadata.requires("bert") or ():
        package, _, marker = requirement.partition(";")
        if marker.strip().replace("'", '"') == extra:
            packages.append(package.strip())
    return shlex.join(["pip", "install", *packages])
