"""Runs an export in ONNX format with ONNX Runtime."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from absl import logging

from imports.installation import as_typed
from serving import engines

# Name of ONNX Runtime's execution provider for CUDA.
_GPU = "CUDAExecutionProvider"
# {Hugging Face's name of an output: name in this project}.
_OUTPUTS = {
    "last_hidden_state": "sequence_output",
    "pooler_output": "pooled_output",
}


class OnnxRuntime(engines.Engine):
    """An Engine that uses ONNX Runtime.

    `needs_single_rows` is True for an int8 model, because ONNX Runtime
    quantizes all rows of a batch with the same range.
    """

    name = "onnx"

    def _load(self, path: Path, num_threads: int) -> None:
        """Starts a session of ONNX Runtime, on a GPU if there is one."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = num_threads
        # Log only fatal errors, because all other errors raise an exception.
        options.log_severity_level = 4
        providers = ["CPUExecutionProvider"]
        if finds_gpu():
            providers.insert(0, _GPU)
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers
        )
        if len(providers) > len(self._session.get_providers()):
            logging.warning(
                "%s: onnx runs on the CPU, because ONNX Runtime cannot use "
                "CUDA. Check that the GPU works, and that CUDA and cuDNN are "
                "installed",
                path.parents[1],
            )
        metadata = self._session.get_modelmeta().custom_metadata_map
        self.needs_single_rows = metadata.get("precision") == "int8"
        theirs = {
            node.name: tuple(
                size if isinstance(size, int) else None for size in node.shape
            )
            for node in self._session.get_inputs()
        }
        if missing := engines.INPUTS.values() - theirs.keys():
            raise OSError(
                f"{path} has no input {min(missing)}, so another program "
                "wrote it. Export the model with serving.export, or its "
                f"weights with {as_typed('python -m tools.export')}"
            )
        self.inputs = {
            ours: theirs[name] for ours, name in engines.INPUTS.items()
        }
        names = [node.name for node in self._session.get_outputs()]
        if len(names) > 1 and "logits" in names:
            # Only Hugging Face's clients use this output.
            names.remove("logits")
        self._outputs = {_OUTPUTS.get(name, name): name for name in names}

    def _compute(
        self, features: Mapping[str, np.ndarray]
    ) -> engines.OutputArrays:
        inputs = {
            engines.INPUTS[name]: np.asarray(value, np.int64)
            for name, value in features.items()
        }
        outputs = self._session.run([*self._outputs.values()], inputs)
        return dict(zip(self._outputs, outputs, strict=True))


def finds_gpu() -> bool:
    """Returns whether ONNX Runtime was built for NVIDIA's GPUs."""
    return _GPU in onnxruntime.get_available_providers()
