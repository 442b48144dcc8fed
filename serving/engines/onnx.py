"""Runs an export in ONNX format with ONNX Runtime."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from absl import logging

from data.arrays import IntArray
from dependencies.installation import with_command_names
from exporting.export_formats import (
    ONNX_NAME_OF_INPUT,
    OWN_NAME_OF_OUTPUT,
)
from serving.engines.batching import OutputArrays
from serving.engines.engine import (
    Engine,
    InputShapes,
    count_threads,
    explain_engine_errors,
    explain_load_errors,
)

# Name of ONNX Runtime's execution provider for CUDA.
_GPU_PROVIDER = "CUDAExecutionProvider"


class OnnxRuntime(Engine):
    """Runs networks in ONNX Runtime.

    `needs_single_rows` is True for an int8 model, because ONNX Runtime
    quantizes all rows of a batch with the same range.
    """

    name = "onnx"

    def __init__(self, path: Path, num_threads: int | None = None) -> None:
        with explain_load_errors(path):
            session = _start_session(path, count_threads(num_threads))
            metadata = session.get_modelmeta().custom_metadata_map
            inputs = _read_inputs(session, path)
        self._session = session
        self._outputs = _read_outputs(session)
        super().__init__(
            inputs, needs_single_rows=metadata.get("precision") == "int8"
        )

    def _compute(self, features: Mapping[str, IntArray]) -> OutputArrays:
        inputs = {
            ONNX_NAME_OF_INPUT[name]: np.asarray(value, np.int64)
            for name, value in features.items()
        }
        with explain_engine_errors():
            outputs = self._session.run([*self._outputs.values()], inputs)
        return dict(zip(self._outputs, outputs, strict=True))


def _start_session(
    path: Path, num_threads: int
) -> onnxruntime.InferenceSession:
    """Starts a session of ONNX Runtime, on a GPU if there is one."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    # Log only fatal errors, because all other errors raise an exception.
    options.log_severity_level = 4
    providers = ["CPUExecutionProvider"]
    if has_gpu():
        providers.insert(0, _GPU_PROVIDER)
    session = onnxruntime.InferenceSession(str(path), options, providers)
    if len(providers) > len(session.get_providers()):
        logging.warning(
            "%s: onnx runs on the CPU, because ONNX Runtime cannot use CUDA. "
            "Check that the GPU works, and that CUDA and cuDNN are installed",
            path.parents[1],
        )
    return session


def _read_inputs(
    session: onnxruntime.InferenceSession, path: Path
) -> InputShapes:
    """Returns the shapes of the inputs by their names in this project.

    Raises an OSError if an input is missing.
    """
    theirs = {
        node.name: tuple(
            size if isinstance(size, int) else None for size in node.shape
        )
        for node in session.get_inputs()
    }
    if missing := ONNX_NAME_OF_INPUT.values() - theirs.keys():
        raise OSError(
            f"{path} has no input {min(missing)}, so another program wrote it. "
            "Export the model with exporting.export, or its weights with "
            f"{with_command_names('python -m tools.export')}"
        )
    return {ours: theirs[name] for ours, name in ONNX_NAME_OF_INPUT.items()}


def _read_outputs(session: onnxruntime.InferenceSession) -> dict[str, str]:
    """Returns {name of an output in this project: its name in the file}."""
    names = [node.name for node in session.get_outputs()]
    if len(names) > 1 and "logits" in names:
        # Only Hugging Face's clients use this output.
        names.remove("logits")
    return {OWN_NAME_OF_OUTPUT.get(name, name): name for name in names}


def has_gpu() -> bool:
    """Returns whether ONNX Runtime was built for NVIDIA's GPUs."""
    return _GPU_PROVIDER in onnxruntime.get_available_providers()
