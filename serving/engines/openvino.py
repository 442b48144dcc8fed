"""Runs an export in OpenVINO's format on a CPU."""

import logging
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from serving import engines

# Importing OpenVINO removes absl's handler from the root logger. Restore the
# handler, because it formats the log.
_HANDLERS = [*logging.root.handlers]
import openvino  # noqa: E402

logging.root.handlers[:] = _HANDLERS


class OpenVino(engines.Engine):
    """An Engine that uses OpenVINO.

    It computes in bfloat16 if the CPU supports it, otherwise in float32.
    """

    name = "openvino"

    def _load(self, path: Path, num_threads: int) -> None:
        core = openvino.Core()
        # Do not map the files into memory, because overwriting the files while
        # the model runs would change the answers.
        core.set_property({"ENABLE_MMAP": False})
        able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self.precision = "bfloat16" if "BF16" in able else "float32"
        options = {
            # OpenVINO names the precisions f32 and bf16.
            "INFERENCE_PRECISION_HINT": self.precision.replace("float", "f"),
            "INFERENCE_NUM_THREADS": num_threads,
            "PERFORMANCE_HINT": "LATENCY",
        }
        compiled = core.compile_model(str(path), "CPU", options)
        self._request = compiled.create_infer_request()
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

    def _compute(self, features: Mapping[str, np.ndarray]) -> engines.Outputs:
        outputs = self._request.infer(engines.rename_inputs(features))
        return {ours: outputs[name] for ours, name in self._outputs.items()}
