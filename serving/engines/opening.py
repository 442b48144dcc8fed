"""Finds an export, and loads it into a runtime."""

import glob
import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from absl import logging

from imports.installation import install_command, with_command_names
from serving.engines.engine import Engine
from serving.engines.runtimes import RUNTIME_FILES, RUNTIMES, EngineName

# Those that can use an NVIDIA GPU, the preferred one first.
_GPU_RUNTIMES: tuple[EngineName, ...] = ("onnx", "saved_model")


def find_export(path: str | os.PathLike[str]) -> Path:
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
        f"{', '.join(RUNTIME_FILES)} or numbered version. Set the folder that "
        "--export_dir wrote, or write one: "
        f"{with_command_names('python -m tools.export')} --model={path} "
        f"--export_dir={exported}"
    )


def _find_newest(folder: Path) -> Path | None:
    """Returns the folder if it is an export, or its newest version."""
    inner = folder.iterdir() if folder.is_dir() else ()
    numbered = [version for version in inner if version.name.isdecimal()]
    numbered.sort(key=lambda version: int(version.name), reverse=True)
    for export in (folder, *numbered):
        if any((export / name).is_file() for name in RUNTIME_FILES):
            return export
    return None


def open_engine(
    folder: Path,
    name: EngineName | None = None,
    num_threads: int | None = None,
) -> Engine:
    """Loads an export into a runtime that suits the export and this machine.

    If `name` is None, chooses among the installed runtimes whose files the
    export contains: ONNX Runtime if it can use an NVIDIA GPU of the machine,
    otherwise TensorFlow if it can, otherwise the first in RUNTIMES.

    `num_threads` None means one per CPU.

    Raises:
        OSError: a file cannot be loaded.
        ValueError: the folder contains no file for this runtime, or the runtime
            is not installed.
    """
    names = [
        name
        for name, runtime in RUNTIMES.items()
        if (folder / runtime.file).is_file()
    ]
    if name and name not in names:
        raise ValueError(
            f"{folder} contains no {RUNTIMES[name].file} for --engine={name}; "
            f"choose one of {', '.join(names)}"
        )
    name = name or _choose_format(names)
    runtime = RUNTIMES[name]
    if not importlib.util.find_spec(runtime.package):
        raise ValueError(
            f"{folder} needs {runtime.package}: "
            f"{install_command(runtime.package)}"
        )
    # Import late, because importing a runtime may take seconds.
    module = importlib.import_module(f"serving.engines.{name}")
    engine_class = getattr(module, runtime.engine)
    engine: Engine = engine_class(folder / runtime.file, num_threads)
    return engine


def _choose_format(names: Sequence[EngineName]) -> EngineName:
    installed = [
        name
        for name in names
        if importlib.util.find_spec(RUNTIMES[name].package)
    ]
    # CUDA_VISIBLE_DEVICES may hide the machine's GPUs.
    is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if not is_hidden and glob.glob("/dev/nvidia[0-9]*"):
        for name in _GPU_RUNTIMES:
            if name in installed and _has_gpu(name):
                return name
    return (installed or names)[0]


def _has_gpu(name: EngineName) -> bool:
    """Returns whether a runtime can use the machine's GPU."""
    module = importlib.import_module(f"serving.engines.{name}")
    has_gpu: bool = module.has_gpu()
    return has_gpu
