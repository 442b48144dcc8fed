"""Finds an export, and loads it into the engine of one of its formats.

`EngineOptions` choose the format in predict.py and serve.py.
This module imports the package that runs a format, such as TensorFlow, only
when it loads an export of this format, because the import may take seconds.
"""

import dataclasses
import glob
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from absl import logging

from dependencies.installation import install_command, with_command_names
from exporting.export_formats import (
    FILE_OF_FORMAT,
    PACKAGE_OF_FORMAT,
    ExportFormat,
)
from options.fields import option
from serving.engines.engine import Engine

# Formats that an NVIDIA GPU may run, the preferred format first.
_GPU_FORMATS: tuple[ExportFormat, ...] = ("onnx", "saved_model")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Flags of predict.py and serve.py that choose and configure an engine."""

    engine: ExportFormat | None = option(
        None,
        "Runtime that runs the model. The default is the first of these "
        "runtimes that is installed and whose format the model's folder "
        "contains. But onnx and saved_model come before the others if they can "
        "use an NVIDIA GPU.",
        choices=[*FILE_OF_FORMAT],
    )
    num_threads: int | None = option(
        None, "Number of threads. The default is one per CPU.", at_least=1
    )


def find_export_folder(path: str | os.PathLike[str]) -> Path:
    """Returns the folder of an export: `path`, or its newest version.

    The versions are folders in `path` whose names are numbers, as in TensorFlow
    Serving. The folder of a training run, such as `run`, stands for the export
    `run_model`.

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


def load_engine(
    folder: Path,
    export_format: ExportFormat | None = None,
    num_threads: int | None = None,
) -> Engine:
    """Loads an export into an engine that suits the export and this machine.

    If `export_format` is None, chooses among the formats that the export
    contains and whose packages are installed: ONNX if ONNX Runtime can use an
    NVIDIA GPU of the machine, otherwise a SavedModel if TensorFlow can,
    otherwise the first format in FILE_OF_FORMAT.

    `num_threads` None means one per CPU.

    Raises:
        OSError: a file cannot be loaded.
        ValueError: the folder contains no file of this format, or the package
            that runs it is not installed.
    """
    formats = [
        name
        for name, file in FILE_OF_FORMAT.items()
        if (folder / file).is_file()
    ]
    if export_format and export_format not in formats:
        raise ValueError(
            f"{folder} contains no {FILE_OF_FORMAT[export_format]} for "
            f"--engine={export_format}; choose one of {', '.join(formats)}"
        )
    export_format = export_format or _choose_format(formats)
    package = PACKAGE_OF_FORMAT[export_format]
    if not importlib.util.find_spec(package):
        raise ValueError(
            f"{folder} needs {package}: {install_command(package)}"
        )
    file = folder / FILE_OF_FORMAT[export_format]
    return _create_engine(export_format, file, num_threads)


def _choose_format(formats: Sequence[ExportFormat]) -> ExportFormat:
    installed = [
        name
        for name in formats
        if importlib.util.find_spec(PACKAGE_OF_FORMAT[name])
    ]
    # CUDA_VISIBLE_DEVICES may hide the machine's GPUs.
    is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if not is_hidden and glob.glob("/dev/nvidia[0-9]*"):
        for name in _GPU_FORMATS:
            if name in installed and _has_gpu(name):
                return name
    return (installed or formats)[0]


def _has_gpu(export_format: ExportFormat) -> bool:
    """Returns whether the engine of a format can use the machine's GPU."""
    if export_format == "onnx":
        # Only this format needs ONNX Runtime.
        from serving.engines import onnx

        return onnx.has_gpu()
    # Only this format needs TensorFlow.
    from serving.engines import saved_model

    return saved_model.has_gpu()


def _create_engine(
    export_format: ExportFormat, file: Path, num_threads: int | None
) -> Engine:
    """Loads a file into the engine of its format."""
    if export_format == "litert":
        # Only this format needs LiteRT.
        from serving.engines.litert import LiteRt

        return LiteRt(file, num_threads)
    if export_format == "onnx":
        # Only this format needs ONNX Runtime.
        from serving.engines.onnx import OnnxRuntime

        return OnnxRuntime(file, num_threads)
    # Only this format needs TensorFlow.
    from serving.engines.saved_model import SavedModel

    return SavedModel(file, num_threads)
