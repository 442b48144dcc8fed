"""Finds the folder of an export, or the newest of its numbered versions."""

import os
from pathlib import Path

from absl import logging

from imports.installation import with_command_names
from serving.engines.export_formats import FILE_OF_FORMAT


def find_export_folder(path: str | os.PathLike[str]) -> Path:
    """Returns the folder of an export: `path`, or its newest version.

    The versions are folders in `path` whose names are numbers, as in TensorFlow
    Serving. The --output_dir of a run stands for OUTPUT_DIR_model.

    Raises:
        FileNotFoundError: there is no export.
    """
    exported = f"{os.path.normpath(path)}_model"
    for folder in (Path(path), Path(exported)):
        if export := _find_newest(folder):
            if export != Path(path):
                logging.info("%s: using %s", path, export)
            return export
    if not os.path.exists(path) and "://" not in str(path):
        raise FileNotFoundError(f"{path} does not exist")
    raise FileNotFoundError(
        f"{path} is not an exported model: it contains no "
        f"{', '.join(FILE_OF_FORMAT.values())} or numbered version. "
        "Set the folder that --export_dir wrote, or write one: "
        f"{with_command_names('python -m tools.export')} --model={path} "
        f"--export_dir={exported}"
    )


def _find_newest(folder: Path) -> Path | None:
    """Returns the folder if it is an export, or its newest version."""
    inner = folder.iterdir() if folder.is_dir() else ()
    numbered = [version for version in inner if version.name.isdecimal()]
    numbered.sort(key=lambda version: int(version.name), reverse=True)
    for export in (folder, *numbered):
        if any((export / name).is_file() for name in FILE_OF_FORMAT.values()):
            return export
    return None
