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
    # A checkout does not need it, and it takes a while.
    from imports import installation

    return installation.read_version()
