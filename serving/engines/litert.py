"""Runs the file of --export_format=litert, without TensorFlow."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from serving import engines

FILE = "model.tflite"


class LiteRt:
    """An Engine; see there.

    Args:
        folder: of the export.
        num_threads: threads that compute; None = one for each CPU.

    Raises:
        OSError: the file cannot be loaded.
        ValueError: the runtime is not installed.
    """

    def __init__(self, folder: Path, num_threads: int | None = None) -> None:
        engines.check_installed(
            "ai_edge_litert", folder, "requirements/predict.txt"
        )
        from ai_edge_litert.interpreter import Interpreter

        num_threads = num_threads or len(os.sched_getaffinity(0))
        try:
            interpreter = Interpreter(
                str(folder / FILE), num_threads=num_threads
            )
            self._serve = interpreter.get_signature_runner("serve")
        except (ValueError, RuntimeError) as error:
            raise OSError(
                f"{folder / FILE} cannot be loaded; export the model again, or "
                f"copy it again: {error}"
            ) from error
        self._lock = threading.Lock()
        self.inputs = {
            name: tuple(
                None if size < 0 else int(size)
                for size in details["shape_signature"]
            )
            for name, details in self._serve.get_input_details().items()
        }

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """See Engine."""
        try:
            # It computes by all threads, and in memory of its own.
            with self._lock:
                return self._serve(**features)
        except (RuntimeError, ValueError, MemoryError) as error:
            reason = " ".join(str(error).split())[:200] or "out of memory"
            raise ValueError(f"the model cannot take it: {reason}") from None
