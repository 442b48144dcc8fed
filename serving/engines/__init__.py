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
    OutputArrays,
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
    "OutputArrays",
    "Runtime",
    "find_export",
    "open_engine",
    "pad_batch",
]
