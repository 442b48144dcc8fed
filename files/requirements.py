"""Builds the command that installs missing packages, for error messages."""

import os
import shlex
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).parent.parent


def install(file: str) -> str:
    """Returns the `pip` command that installs a requirements file's packages.

    Args:
        file: path in the project, `requirements/EXTRA.txt` or
            `requirements.txt`. If the project is installed as a package, this
            file does not exist, so the command names the packages.
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
