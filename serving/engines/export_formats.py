"""The formats of exports, and finds the folder that contains an export.

The argument and the flag `engine` choose one of these formats. No package that
runs a format is imported here.
"""

import os
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from absl import logging

from imports.installation import with_command_names

# Format of the network in an export, which an engine of the same name runs.
ExportFormat: TypeAlias = Literal["saved_model", "litert", "onnx"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
# {format: path of the network inside the folder of an export}. On a CPU,
# `load_engine` chooses the first of these formats that it can run.
FILE_OF_FORMAT: dict[ExportFormat, str] = {
    "litert": "model.tflite",
    "onnx": "onnx/model.onnx",
    "saved_model": "saved_model.pb",
}
# {format: Python package that runs the network}
PACKAGE_OF_FORMAT: dict[ExportFormat, str] = {
    "litert": "ai_edge_litert",
    "onnx": "onnxruntime",
    "saved_model": "tensorflow",
}
# In ONNX files, inputs and outputs have the names of Hugging Face's files:
# {name of an input in this project: its name in the file}
ONNX_NAME_OF_INPUT = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
# {name of an output in the file: its name in this project}
OWN_NAME_OF_OUTPUT = {
    "last_hidden_state": "sequence_output",
    "pooler_output": "pooled_output",
}


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
