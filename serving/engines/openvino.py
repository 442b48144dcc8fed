"""Runs an export in OpenVINO's format on a CPU."""

import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import openvino

from serving import engines

FILE = engines.RUNTIMES["openvino"].file


class OpenVino:
    """An Engine that uses OpenVINO.

    Args:
        folder: folder of the export.
        num_threads: number of threads, or None for one per CPU.
        precision: "float32" or "bfloat16". None selects bfloat16 if the CPU
            supports it, otherwise float32.

    Raises:
        OSError: a file cannot be loaded.
    """

    name = "openvino"
    is_row_wise = False

    def __init__(
        self,
        folder: Path,
        num_threads: int | None = None,
        precision: str | None = None,
    ) -> None:
        core = openvino.Core()
        # Do not map the files, because overwriting them while the model runs
        # would change the answers.
        core.set_property({"ENABLE_MMAP": False})
        able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        default = "bfloat16" if "BF16" in able else "float32"
        self.precision = precision or default
        options = {
            # OpenVINO names the precisions f32 and bf16.
            "INFERENCE_PRECISION_HINT": self.precision.replace("float", "f"),
            "INFERENCE_NUM_THREADS": engines.count_threads(num_threads),
            "PERFORMANCE_HINT": "LATENCY",
        }
        try:
            compiled = core.compile_model(str(folder / FILE), "CPU", options)
        except RuntimeError as error:
            raise engines.damaged(folder / FILE, error) from error
        self._request = compiled.create_infer_request()
        self._lock = threading.Lock()
        self.inputs = {
            ours: tuple(
                size.get_length() if size.is_static else None
                for size in compiled.input(name).partial_shape
            )
            for ours, name in engines.INPUTS.items()
        }
        self._outputs = engines.name_outputs(
            [each.any_name for each in compiled.outputs]
        )

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs the network. Calls of several threads wait for each other."""
        inputs = {
            engines.INPUTS[name]: np.asarray(value, np.int64)
            for name, value in features.items()
        }
        try:
            # Allow one call at a time, because a call uses all threads.
            with self._lock:
                outputs = self._request.infer(inputs)
        except (RuntimeError, MemoryError) as error:
            raise engines.failure(error) from None
        return {ours: outputs[name] for ours, name in self._outputs.items()}
