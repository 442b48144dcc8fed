"""Runs exported networks in runtimes such as ONNX Runtime.

    engine.py: `Engine`, arrays in, arrays out
    runtimes.py: lists the runtimes and the files that they load
    loading.py: finds an export, and chooses a runtime for it

Each runtime has a module:

    saved_model.py: TensorFlow
    litert.py: LiteRT
    onnx.py: ONNX Runtime
"""

from serving.engines.engine import (
    MAX_WORDPIECES,
    Engine,
    EngineError,
    Input,
    InputShapes,
    OutputArrays,
    count_threads,
    named_load_errors,
    pad_batch,
)
from serving.engines.loading import find_export, open_engine
from serving.engines.runtimes import (
    ONNX_NAME_OF_INPUT,
    RUNTIME_FILES,
    RUNTIMES,
    EngineName,
    Runtime,
)

__all__ = [
    "MAX_WORDPIECES",
    "ONNX_NAME_OF_INPUT",
    "RUNTIMES",
    "RUNTIME_FILES",
    "Engine",
    "EngineError",
    "EngineName",
    "Input",
    "InputShapes",
    "OutputArrays",
    "Runtime",
    "count_threads",
    "find_export",
    "named_load_errors",
    "open_engine",
    "pad_batch",
]
