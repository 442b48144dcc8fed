"""Runs an export in ONNX format with ONNX Runtime."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from absl import logging

from serving import engines

FILE = engines.RUNTIMES["onnx"].file
# ONNX Runtime's name for computing with CUDA.
_GPU = "CUDAExecutionProvider"


class OnnxRuntime:
    """An Engine that uses ONNX Runtime.

    `is_row_wise` is True for an int8 model, because ONNX Runtime quantizes all
    rows of a batch with the same range.

    Args:
        folder: folder of the export.
        num_threads: number of threads, or None for one per CPU.

    Raises:
        OSError: the model file cannot be loaded.
    """

    name = "onnx"

    def __init__(self, folder: Path, num_threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = engines.count_threads(num_threads)
        # Log only fatal errors, because ONNX Runtime raises all other errors.
        options.log_severity_level = 4
        providers = ["CPUExecutionProvider"]
        if finds_gpu():
            providers.insert(0, _GPU)
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / FILE), options, providers
            )
        except Exception as error:
            # Catch Exception, the only base class of all ONNX Runtime's errors.
            raise engines.damaged(folder / FILE, error) from error
        if len(providers) > len(self._session.get_providers()):
            logging.warning(
                "%s: onnx computes on the CPU, because ONNX Runtime cannot use "
                "CUDA. Check the GPU, and whether CUDA and cuDNN are installed",
                folder,
            )
        written = self._session.get_modelmeta().custom_metadata_map
        self.precision = written.get("precision", "float32")
        self.is_row_wise = self.precision == "int8"
        theirs = {
            each.name: tuple(
                size if isinstance(size, int) else None for size in each.shape
            )
            for each in self._session.get_inputs()
        }
        self.inputs = {
            ours: theirs[name] for ours, name in engines.INPUTS.items()
        }
        self._outputs = engines.name_outputs(
            [each.name for each in self._session.get_outputs()]
        )

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs the network. Several threads may call this at the same time."""
        inputs = {
            engines.INPUTS[name]: np.asarray(value, np.int64)
            for name, value in features.items()
        }
        try:
            outputs = self._session.run([*self._outputs.values()], inputs)
        except Exception as error:
            raise engines.failure(error) from None
        return dict(zip(self._outputs, outputs, strict=True))


def finds_gpu() -> bool:
    """Returns whether ONNX Runtime was built for NVIDIA's GPUs."""
    return _GPU in onnxruntime.get_available_providers()
