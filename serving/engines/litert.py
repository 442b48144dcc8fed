"""Runs an export in LiteRT's format, without TensorFlow."""

import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from serving import engines

FILE = engines.RUNTIMES["litert"].file


class LiteRt:
    """An Engine that uses LiteRT.

    Args:
        folder: folder of the export.
        num_threads: number of threads, or None for one per CPU.

    Raises:
        OSError: the model file cannot be loaded.
    """

    name = "litert"
    is_row_wise = False

    def __init__(self, folder: Path, num_threads: int | None = None) -> None:
        try:
            # Pass the file's bytes. LiteRT would map the file into memory, and
            # overwriting it would change the answers or end the process.
            interpreter = Interpreter(
                model_content=(folder / FILE).read_bytes(),
                num_threads=engines.count_threads(num_threads),
            )
            self._serve = interpreter.get_signature_runner("serve")
        except (ValueError, RuntimeError) as error:
            raise engines.damaged(folder / FILE, error) from error
        kinds = {each["dtype"] for each in interpreter.get_tensor_details()}
        self.precision = "int8" if np.int8 in kinds else "float32"
        self._lock = threading.Lock()
        self.inputs = {
            name: tuple(
                None if size < 0 else int(size)
                for size in details["shape_signature"]
            )
            for name, details in self._serve.get_input_details().items()
        }

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs the network. Calls of several threads wait for each other."""
        try:
            # Allow one call at a time, because calls share memory and use all
            # threads.
            with self._lock:
                return self._serve(**features)
        except (RuntimeError, ValueError, MemoryError) as error:
            raise engines.failure(error) from None
