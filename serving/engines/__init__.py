"""Runs exported networks in runtimes such as ONNX Runtime.

runtimes.py lists the runtimes, and there is a file for each. engine.py defines
what they have in common, an Engine. opening.py finds an export and chooses a
runtime for it.
"""

from serving.engines.engine import (
    BUDGET,
    Engine,
    EngineError,
    Input,
    InputShapes,
    OutputArrays,
    count_threads,
    named_load_errors,
    pad_batch,
)
from serving.engines.opening import find_export, open_engine
from serving.engines.runtimes import FILES, INPUTS, RUNTIMES, Runtime

__all__ = [
    "BUDGET",
    "FILES",
    "INPUTS",
    "RUNTIMES",
    "Engine",
    "EngineError",
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
