"""The version of the project."""

from pathlib import Path


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
    # A checkout does not need them, and importing them takes a while.
    from importlib import metadata

    from imports.installation import DISTRIBUTION

    return metadata.version(DISTRIBUTION)
