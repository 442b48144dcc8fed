"""Runs exported networks in runtimes such as ONNX Runtime.

An export is written in an `ExportFormat`, which the flag --engine names. A
`Runtime` is a library that runs this format, and an `Engine` is a network that
the library has loaded.

    engine.py: `Engine`, arrays in, arrays out, and the errors of engines
    batching.py: plans the batches of many requests, and collects their outputs
    runtimes.py: lists the runtimes, and loads an export into one of them
    checksums.py: computes checksums, which tell the files of two exports apart
    exported_outputs.py: what exports compute from logits, and how to undo this

Each runtime has a module:

    saved_model.py: TensorFlow
    litert.py: LiteRT
    onnx.py: ONNX Runtime
"""

from serving.engines.batching import OutputArrays, PackedInput, pad_batch
from serving.engines.engine import (
    EXPORT_FORMATS,
    MAX_BATCH_TOKENS,
    Engine,
    EngineError,
    ExportFormat,
    InputShapes,
    count_threads,
    engine_errors,
    named_load_errors,
)
from serving.engines.runtimes import (
    NETWORK_FILES,
    ONNX_NAME_OF_INPUT,
    RUNTIME_OF_FORMAT,
    EngineFlags,
    Runtime,
    find_export_folder,
    load_engine,
)

__all__ = [
    "EXPORT_FORMATS",
    "MAX_BATCH_TOKENS",
    "NETWORK_FILES",
    "ONNX_NAME_OF_INPUT",
    "RUNTIME_OF_FORMAT",
    "Engine",
    "EngineError",
    "EngineFlags",
    "ExportFormat",
    "InputShapes",
    "OutputArrays",
    "PackedInput",
    "Runtime",
    "count_threads",
    "engine_errors",
    "find_export_folder",
    "load_engine",
    "named_load_errors",
    "pad_batch",
]
