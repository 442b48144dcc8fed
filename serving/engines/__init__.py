"""Engines run a network over ids: arrays in, arrays out.

B = batch, F = length of an input.
"""

import dataclasses
import glob
import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from absl import logging

from files import requirements
from files.flags import flag

# WordPieces, with padding, that a network computes at a time, and values.
BUDGET = 1024
MAX_VALUES = 1 << 24


class Engine(Protocol):
    """A network in some runtime.

    Attributes:
        name: key of RUNTIMES.
        precision: "float32", "bfloat16" or "int8", of the products.
        is_row_wise: whether an answer is exact only if `run` gets its input
            as the one row, with no more padding than its own length needs.
        inputs: {name: shape}, with None for sizes that may be any.
    """

    name: str
    precision: str
    is_row_wise: bool
    inputs: dict[str, tuple[int | None, ...]]

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the network's outputs, from any thread.

        Args:
            features: int32 [B, F], input_ids, input_mask and segment_ids.

        Raises:
            ValueError: it fails on them, as for lack of memory.
        """


class Runtime(NamedTuple):
    """Runs the files of one format of exports.

    Attributes:
        file: the model's, in the folder of an export.
        package: module to install.
        requirements: file that lists it.
        engine: name of the class in the module of the runtime's name.
    """

    file: str
    package: str
    requirements: str
    engine: str


# In the order in which they are chosen on a CPU.
RUNTIMES = {
    "litert": Runtime(
        "model.tflite", "ai_edge_litert", "requirements/predict.txt", "LiteRt"
    ),
    "onnx": Runtime(
        "onnx/model.onnx", "onnxruntime", "requirements/onnx.txt", "OnnxRuntime"
    ),
    "openvino": Runtime(
        "model.xml", "openvino", "requirements/openvino.txt", "OpenVino"
    ),
    "saved_model": Runtime(
        "saved_model.pb", "tensorflow", "requirements.txt", "SavedModel"
    ),
}
FILES = tuple(runtime.file for runtime in RUNTIMES.values())

# Hugging Face's names, in ONNX and OpenVINO, of the inputs and outputs here.
INPUTS = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
OUTPUTS = {
    "sequence_output": "last_hidden_state",
    "pooled_output": "pooler_output",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """Flags of predict.py and serve.py that choose what computes a model."""

    engine: str | None = flag(
        None,
        "Runtime that computes; by default the first of these that is "
        "installed and that the folder has a file for, on a GPU onnx or "
        "saved_model.",
        choices=[*RUNTIMES],
    )
    num_threads: int | None = flag(
        None, "Threads that compute; by default one for each CPU.", at_least=1
    )
    segmenter: str | None = flag(
        None,
        "module:function that splits a text into words, for a model that was "
        "trained with --segmenter. It is code that will run.",
    )
    allow_any_operation: bool = flag(
        False,
        "Also load a model with operations that this project's exports do not "
        "use. They may read and write your files, so know who made the model.",
    )

    def engine_options(self) -> dict[str, Any]:
        """Returns these flags, the arguments of serving.load after the path."""
        fields = dataclasses.fields(EngineConfig)
        return {field.name: getattr(self, field.name) for field in fields}


class Input(NamedTuple):
    """One input of a network.

    Attributes:
        ids: its WordPieces, with special tokens.
        first_length: number of those in segment 0.
        state: what a task needs to read the outputs; the network does not.
    """

    ids: list[int]
    first_length: int
    state: Any = None


def open_engine(
    folder: Path,
    name: str | None = None,
    num_threads: int | None = None,
    allow_any_operation: bool = False,
) -> Engine:
    """Loads an export in the runtime that suits it and this machine.

    On a machine with an NVIDIA GPU that its package can use, ONNX Runtime and
    then TensorFlow come first. Otherwise the first installed one of RUNTIMES.

    Args:
        folder: folder of an export, with at least one of FILES.
        name: key of RUNTIMES, or None to choose one.
        num_threads: threads that compute, or None for one per CPU.
        allow_any_operation: see SavedModel.

    Raises:
        OSError: a file cannot be loaded.
        ValueError: it has none for that runtime, the runtime is not installed,
            or a SavedModel uses an operation that is not allowed.
    """
    names = [
        name
        for name, runtime in RUNTIMES.items()
        if (folder / runtime.file).is_file()
    ]
    if name and name not in names:
        raise ValueError(
            f"{folder} has no {RUNTIMES[name].file}, which the engine {name} "
            f"runs; it has a model for {', '.join(names)}"
        )
    name = name or _choose(names)
    runtime = RUNTIMES[name]
    if not importlib.util.find_spec(runtime.package):
        raise ValueError(
            f"{folder} needs {runtime.package}: "
            f"{requirements.install(runtime.requirements)}"
        )
    # Each imports its runtime, which may take seconds.
    module = importlib.import_module(f"serving.engines.{name}")
    options = {"allow_any_operation": allow_any_operation}
    engine = getattr(module, runtime.engine)(
        folder, num_threads, **(options if name == "saved_model" else {})
    )
    logging.info("%s: engine %s, %s", folder, name, engine.precision)
    return engine


def _choose(names: Sequence[str]) -> str:
    """Returns the runtime to use, of some that have a file."""
    installed = [
        name
        for name in names
        if importlib.util.find_spec(RUNTIMES[name].package)
    ]
    # Hidden from CUDA, or not there.
    if os.environ.get("CUDA_VISIBLE_DEVICES") not in ("", "-1") and glob.glob(
        "/dev/nvidia[0-9]*"
    ):
        for name in ("onnx", "saved_model"):
            if name in installed:
                module = importlib.import_module(f"serving.engines.{name}")
                if module.finds_gpu():
                    return name
    return (installed or names)[0]


def name_outputs(names: Sequence[str]) -> dict[str, str]:
    """Returns {name here: name in the file} of the outputs to compute.

    Args:
        names: names in the file. Its "logits" are for Hugging Face's clients.
    """
    theirs = {name: ours for ours, name in OUTPUTS.items()}
    return {theirs.get(name, name): name for name in names if name != "logits"}


def damaged(path: str | os.PathLike[str], reason: Any) -> OSError:
    """Returns the error of a file or folder that cannot be loaded."""
    return OSError(
        f"{os.fspath(path)} cannot be loaded; export the model again, or copy "
        f"it again: {' '.join(str(reason).split())}"
    )


def failure(error: Exception) -> ValueError:
    """Returns the error of a run that failed, in one line."""
    reason = " ".join(str(error).split())[:200] or "out of memory"
    return ValueError(f"the model cannot take it: {reason}")


def count_threads(num_threads: int | None) -> int:
    """Returns the number of threads, by default one for each usable CPU."""
    if num_threads or not hasattr(os, "sched_getaffinity"):
        return num_threads or os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


def compute(
    engine: Engine,
    inputs: Sequence[Input],
    keep: Callable[[Input, dict[str, np.ndarray]], Any],
    longest: int,
    pads: bool = False,
    max_values: int = 1,
) -> list[Any]:
    """Runs inputs of mixed lengths.

    Args:
        engine: Engine.
        inputs: of any number.
        keep: (input, its row of each output) -> what is kept of them, so that
            large outputs need not be in memory together.
        longest: see `cut`.
        pads: see `cut`.
        max_values: see `cut`.
    """
    kept: list[Any] = [None] * len(inputs)
    sizes = [len(each.ids) for each in inputs]
    for rows, length in cut(engine, sizes, longest, pads, max_values):
        outputs = engine.run(_pack([inputs[i] for i in rows], length))
        for row, i in enumerate(rows):
            values = {name: value[row] for name, value in outputs.items()}
            kept[i] = keep(inputs[i], values)
    return kept


def cut(
    engine: Engine,
    sizes: Sequence[int],
    longest: int,
    pads: bool = False,
    max_values: int = 1,
    width: int = 1,
) -> Iterator[tuple[list[int], int]]:
    """Cuts rows into batches of about the same length each.

    Args:
        engine: Engine.
        sizes: length of each row, without its padding.
        longest: most WordPieces of a row.
        pads: whether all rows are padded to it; else to the longest in their
            batch, rounded up to one of a few.
        max_values: values that the network computes for a WordPiece, if many.
        width: inputs in a row, the choices of multiple choice.

    Yields:
        (numbers of the rows of a batch, the length they are padded to).
    """
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    most = min(BUDGET, MAX_VALUES // max_values)
    while order:
        length = longest if pads else _round_up(sizes[order[0]], longest)
        count = max(most // (length * width), 1)
        if engine.is_row_wise:
            count = 1
        yield order[:count], length
        order = order[count:]


def lengths(longest: int) -> list[int]:
    """Returns the lengths to which inputs are padded, up to the longest."""
    return sorted({_round_up(size, longest) for size in range(1, longest + 1)})


def _round_up(length: int, longest: int) -> int:
    """Rounds up to one of 8 lengths between each two powers of 2."""
    step = max((1 << (length - 1).bit_length()) // 8, 8)
    return min(-(-length // step) * step, longest)


def _pack(inputs: Sequence[Input], length: int) -> dict[str, np.ndarray]:
    """Returns padded features, int32 [B, F]."""
    ids = np.zeros([len(inputs), length], np.int32)
    for row, each in zip(ids, inputs, strict=True):
        row[: len(each.ids)] = each.ids
    places = np.arange(length)
    ends = np.array([[len(each.ids), each.first_length] for each in inputs])
    is_real, is_first = (places < ends[:, i, None] for i in (0, 1))
    return {
        "input_ids": ids,
        "input_mask": is_real.astype(np.int32),
        "segment_ids": (is_real & ~is_first).astype(np.int32),
    }
