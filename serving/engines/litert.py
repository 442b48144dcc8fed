"""Runs an export in LiteRT's format, without TensorFlow."""

import threading
from collections.abc import Mapping
from pathlib import Path

from ai_edge_litert.interpreter import Interpreter

from data.arrays import IntArray
from serving.engines.batching import OutputArrays
from serving.engines.engine import (
    Engine,
    count_threads,
    explain_engine_errors,
    explain_load_errors,
)


class LiteRt(Engine):
    """Runs networks in LiteRT."""

    name = "litert"

    def __init__(self, path: Path, num_threads: int | None = None) -> None:
        # Allow one call at a time, because calls share memory.
        self._lock = threading.Lock()
        with explain_load_errors(path):
            # If LiteRT mapped the file into memory, overwriting the file would
            # change the replies or crash the process.
            interpreter = Interpreter(
                model_content=path.read_bytes(),
                num_threads=count_threads(num_threads),
            )
            self._serve = interpreter.get_signature_runner("serve")
            inputs = {
                name: tuple(
                    None if size < 0 else int(size)
                    for size in details["shape_signature"]
                )
                for name, details in self._serve.get_input_details().items()
            }
        super().__init__(inputs)

    def _compute(self, features: Mapping[str, IntArray]) -> OutputArrays:
        with self._lock, explain_engine_errors():
            outputs: OutputArrays = self._serve(**features)
        return outputs
