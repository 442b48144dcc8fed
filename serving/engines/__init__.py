"""Engines run a network over ids: arrays in, arrays out.

B = batch, F = length of an input.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

# WordPieces, with padding, that a network computes at a time, and values.
BUDGET = 2048
MAX_VALUES = 1 << 24


class Engine(Protocol):
    """A network in some runtime.

    Attributes:
        inputs: {name: shape}, with None for sizes that may be any.
    """

    inputs: dict[str, tuple[int | None, ...]]

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the network's outputs, from any thread.

        Args:
            features: int32 [B, F], input_ids, input_mask and segment_ids.

        Raises:
            ValueError: it fails on them, as for lack of memory.
        """


class Input(NamedTuple):
    """One input of a network.

    Attributes:
        ids: its WordPieces, with special tokens.
        first_length: number of those in segment 0.
    """

    ids: list[int]
    first_length: int


def check_installed(package: str, folder: Path, requirements: str) -> None:
    """Refuses a model whose runtime is missing.

    Args:
        package: the runtime's.
        folder: of the model.
        requirements: path of the file that lists it.

    Raises:
        ValueError: it is not installed.
    """
    if not importlib.util.find_spec(package):
        raise ValueError(
            f"{folder} needs {package}; pip install -r {requirements}"
        )


def compute(
    engine: Engine,
    inputs: Sequence[Input],
    keep: Callable[[Input, dict[str, np.ndarray]], Any],
    length: int | None = None,
    max_values: int = 1,
) -> list[Any]:
    """Runs inputs of mixed lengths, those of about the same length together.

    Args:
        engine: Engine.
        inputs: of any number, each at most as long as the network takes.
        keep: (input, its row of each output) -> what is kept of them, so that
            large outputs need not be in memory together.
        length: length that all are padded to; None = that of the longest in
            the batch, rounded up to one of a few.
        max_values: values that the network computes for a WordPiece, if many.
    """
    kept: list[Any] = [None] * len(inputs)
    order = sorted(range(len(inputs)), key=lambda i: -len(inputs[i].ids))
    while order:
        longest = length or _round_up(len(inputs[order[0]].ids))
        count = max(min(BUDGET, MAX_VALUES // max_values) // longest, 1)
        rows, order = order[:count], order[count:]
        outputs = engine.run(_pack([inputs[i] for i in rows], longest))
        for row, i in enumerate(rows):
            values = {name: value[row] for name, value in outputs.items()}
            kept[i] = keep(inputs[i], values)
    return kept


def lengths(longest: int) -> list[int]:
    """Returns the lengths that those up to the longest are rounded up to."""
    return sorted({_round_up(length) for length in range(1, longest + 1)})


def _round_up(length: int) -> int:
    """Rounds up to one of 8 lengths between each two powers of 2."""
    step = max((1 << (length - 1).bit_length()) // 8, 8)
    return -(-length // step) * step


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
