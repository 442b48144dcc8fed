"""The version of the project."""

from importlib import metadata
from pathlib import Path

from imports.installation import DISTRIBUTION


def read_version() -> str:
    """Returns the version of the checkout, or of the installed distribution.

    Raises:
        importlib.metadata.PackageNotFoundError: the package is neither in a
            checkout nor installed.
    """
    root = Path(__file__).parents[1]
    file = root / "VERSION"
    # In site-packages, a file of this name would belong to somebody else.
    if (root / "pyproject.toml").exists() and file.exists():
        return file.read_text("utf-8").strip()
    return metadata.version(DISTRIBUTION)
