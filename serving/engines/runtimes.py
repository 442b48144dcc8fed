"""Lists the runtimes, finds an export, and loads it into one of them."""

import dataclasses
import glob
import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from absl import logging

from imports.installation import install_command, with_command_names
from options.fields import option
from serving.engines.engine import Engine, ExportFormat


class Runtime(NamedTuple):
    """A runtime, and the format of the models that the runtime loads.

    Attributes:
        file: path of the model inside the folder of an export.
        package: Python module of the runtime.
        engine_class: class in the module of serving/engines/ that is named
            like the key in RUNTIME_OF_FORMAT.
    """

    file: str
    package: str
    engine_class: str


# {format of an export: its runtime}. On a CPU, `load_engine` chooses the first
# runtime that is installed and whose file the export contains.
RUNTIME_OF_FORMAT: dict[ExportFormat, Runtime] = {
    "litert": Runtime("model.tflite", "ai_edge_litert", "LiteRt"),
    "onnx": Runtime("onnx/model.onnx", "onnxruntime", "OnnxRuntime"),
    "saved_model": Runtime("saved_model.pb", "tensorflow", "SavedModel"),
}
NETWORK_FILES = tuple(runtime.file for runtime in RUNTIME_OF_FORMAT.values())

# {name in this project: name in Hugging Face's models and in ONNX files}.
ONNX_NAME_OF_INPUT = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
# Formats whose runtime can use an NVIDIA GPU, the preferred format first.
_GPU_FORMATS: tuple[ExportFormat, ...] = ("onnx", "saved_model")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineFlags:
    """Flags of predict.py and serve.py that choose and configure a runtime."""

    engine: ExportFormat | None = option(
        None,
        "Runtime that runs the model. The default is the first of these "
        "runtimes that is installed and whose format the model's folder "
        "contains. But onnx and saved_model come before the others if they can "
        "use an NVIDIA GPU.",
        choices=[*RUNTIME_OF_FORMAT],
    )
    num_threads: int | None = option(
        None, "Number of threads. The default is one per CPU.", at_least=1
    )


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
        f"{', '.join(NETWORK_FILES)} or numbered version. Set the folder that "
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
        if any((export / name).is_file() for name in NETWORK_FILES):
            return export
    return None


def load_engine(
    folder: Path,
    export_format: ExportFormat | None = None,
    num_threads: int | None = None,
) -> Engine:
    """Loads an export into a runtime that suits the export and this machine.

    If `export_format` is None, chooses among the installed runtimes whose files
    the export contains: ONNX Runtime if it can use an NVIDIA GPU of the
    machine, otherwise TensorFlow if it can, otherwise the first in
    RUNTIME_OF_FORMAT.

    `num_threads` None means one per CPU.

    Raises:
        OSError: a file cannot be loaded.
        ValueError: the folder contains no file for this runtime, or the runtime
            is not installed.
    """
    formats = [
        name
        for name, runtime in RUNTIME_OF_FORMAT.items()
        if (folder / runtime.file).is_file()
    ]
    if export_format and export_format not in formats:
        raise ValueError(
            f"{folder} contains no {RUNTIME_OF_FORMAT[export_format].file} for "
            f"--engine={export_format}; choose one of {', '.join(formats)}"
        )
    export_format = export_format or _choose_format(formats)
    runtime = RUNTIME_OF_FORMAT[export_format]
    if not importlib.util.find_spec(runtime.package):
        raise ValueError(
            f"{folder} needs {runtime.package}: "
            f"{install_command(runtime.package)}"
        )
    # Import late, because importing a runtime may take seconds.
    module = importlib.import_module(f"serving.engines.{export_format}")
    engine_class = getattr(module, runtime.engine_class)
    engine: Engine = engine_class(folder / runtime.file, num_threads)
    return engine


def _choose_format(formats: Sequence[ExportFormat]) -> ExportFormat:
    installed = [
        name
        for name in formats
        if importlib.util.find_spec(RUNTIME_OF_FORMAT[name].package)
    ]
    # CUDA_VISIBLE_DEVICES may hide the machine's GPUs.
    is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if not is_hidden and glob.glob("/dev/nvidia[0-9]*"):
        for name in _GPU_FORMATS:
            if name in installed and _has_gpu(name):
                return name
    return (installed or formats)[0]


def _has_gpu(export_format: ExportFormat) -> bool:
    """Returns whether the runtime can use the machine's GPU."""
    module = importlib.import_module(f"serving.engines.{export_format}")
    has_gpu: bool = module.has_gpu()
    return has_gpu
