"""Returns the version of the project, and commands that install packages.

The project runs from a checkout, or installed as a distribution. Packages that
only some commands need are extras of the distribution. In a checkout, each
extra is a file in requirements/.
"""

import functools
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path

# Name of the distribution, which pip installs.
DISTRIBUTION = "bert-for-keras"
ROOT = Path(__file__).resolve().parents[1]
# {optional package: the extra that installs it}.
EXTRA_OF_PACKAGE = {
    "ai_edge_litert": "predict",
    "apache_beam": "beam",
    "dask": "beam",
    "distributed": "beam",
    "fastapi": "serve",
    "huggingface_hub": "hub",
    "matplotlib": "plot",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "pyarrow": "tables",
    "python_calamine": "tables",
    "sentencex": "sentence-split",
    "starlette": "serve",
    "uvicorn": "serve",
    "zstandard": "tables",
}


def extra_of(package: str | None) -> str | None:
    """Returns the extra that installs a package, None if no extra does.

    Args:
        package: name of the package or of a module in it, as it is imported.
    """
    return EXTRA_OF_PACKAGE.get((package or "").partition(".")[0])


def install_command(package: str | None) -> str:
    """Returns the command that installs a package which the project uses.

    Args:
        package: name of the package, as it is imported. For a package that no
            extra installs, the command installs all that the scripts need.
    """
    extra = extra_of(package)
    file = f"requirements/{extra}.txt" if extra else "requirements.txt"
    if (ROOT / file).is_file():
        return f"pip install -r {file}"
    name = f'"{DISTRIBUTION}[{extra}]"' if extra else DISTRIBUTION
    return f"{_choose_installer()} {name}"


def read_version() -> str:
    """Returns the version of the checkout, or of the installed distribution.

    Raises:
        importlib.metadata.PackageNotFoundError: the package is neither in a
            checkout nor installed.
    """
    file = ROOT / "VERSION"
    # In site-packages, a file of this name would belong to somebody else.
    if (ROOT / "pyproject.toml").exists() and file.exists():
        return file.read_text("utf-8").strip()
    return metadata.version(DISTRIBUTION)


def with_command_names(text: str) -> str:
    """Returns a text with the names of scripts as the user types them.

    If an installed command runs, the result names commands such as bert-serve
    instead of `python serve.py`. If a script runs, the text is returned
    unchanged.
    """
    if running_command() is None:
        return text
    for module, command in _list_installed_commands().items():
        path = module.replace(".", "/")
        names = [rf"{path}\.py"]
        if module != path:
            names.append(re.escape(module))
        pattern = rf"(python (-m )?)?(?<![\w./])({'|'.join(names)})\b"
        text = re.sub(pattern, command, text)
    return text


def running_command() -> str | None:
    """Returns the installed command that runs, None for a script."""
    name = Path(sys.argv[0]).name
    return name if name in _list_installed_commands().values() else None


def _choose_installer() -> str:
    """Returns the command that adds packages to this Python's environment."""
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx runpip {DISTRIBUTION} install"
    if (environment / "uv-receipt.toml").is_file():
        return f"uv pip install --python={shlex.quote(sys.prefix)}"
    return "pip install"


@functools.cache
def _list_installed_commands() -> dict[str, str]:
    """Returns {module: its command}, {} if the project is not installed."""
    try:
        entry_points = metadata.distribution(DISTRIBUTION).entry_points
    except metadata.PackageNotFoundError:
        return {}
    scripts = entry_points.select(group="console_scripts")
    return {script.module: script.name for script in scripts}
