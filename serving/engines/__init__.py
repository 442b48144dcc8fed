"""Runs exported networks in runtimes such as ONNX Runtime.

An export is written in an `ExportFormat`, which the flag --engine names. A
`Runtime` is a library that runs this format, and an `Engine` is a network that
the library has loaded.

    batching.py: plans the batches of many requests, and collects their outputs
    engine.py: `Engine`, arrays in, arrays out
    errors.py: the errors of engines
    runtimes.py: lists the runtimes and the files that they load
    loading.py: finds an export, and chooses a runtime for it
    engine_flags.py: the flags that choose and configure the runtime
    output_kinds.py: what exports compute from logits, and how to undo this

Each runtime has a module:

    saved_model.py: TensorFlow
    litert.py: LiteRT
    onnx.py: ONNX Runtime
"""

from serving.engines.batching import OutputArrays, PackedInput, pad_batch
from serving.engines.engine import (
    MAX_WORDPIECES,
    Engine,
    InputShapes,
    count_threads,
)
from serving.engines.errors import EngineError, named_load_errors
from serving.engines.loading import find_export_folder, load_engine
from serving.engines.runtimes import (
    NETWORK_FILES,
    ONNX_NAME_OF_INPUT,
    RUNTIME_OF_FORMAT,
    Runtime,
)

__all__ = [
    "MAX_WORDPIECES",
    "NETWORK_FILES",
    "ONNX_NAME_OF_INPUT",
    "RUNTIME_OF_FORMAT",
    "Engine",
    "EngineError",
    "InputShapes",
    "OutputArrays",
    "PackedInput",
    "Runtime",
    "count_threads",
    "find_export_folder",
    "load_engine",
    "named_load_errors",
    "pad_batch",
]
