"""Loads exported networks, and runs them on batches of inputs.

An export contains its network in one or several formats, which
exporting/export_formats.py lists. An `Engine` is a network in memory. Each
format has one class of engines, so the name of a format chooses the engine too:
in the argument `engine` of `serving.load`, in the flag --engine, and as
`Engine.name`.

    engine_loading.py: finds the folder of an export, chooses a format in it,
        by `EngineOptions` in commands, and loads the engine
    engine.py: `Engine`, arrays in, arrays out, and the errors of engines
    batching.py: plans the batches of many requests, and collects their outputs

The engine of each format:

    saved_model.py: TensorFlow
    litert.py: LiteRT
    onnx.py: ONNX Runtime
"""

from serving.engines.batching import (
    BatchLimits,
    NetworkInput,
    OutputArrays,
    pad_batch,
    resize_last_axis,
)
from serving.engines.engine import Engine, EngineError, InputShapes
from serving.engines.engine_loading import (
    EngineOptions,
    find_export_folder,
    load_engine,
)

__all__ = [
    "BatchLimits",
    "Engine",
    "EngineError",
    "EngineOptions",
    "InputShapes",
    "NetworkInput",
    "OutputArrays",
    "find_export_folder",
    "load_engine",
    "pad_batch",
    "resize_last_axis",
]
