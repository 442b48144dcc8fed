"""Defines an engine, and the batches of inputs that it runs.

B = batch size, F = length of an input in WordPieces, with padding.
"""

import abc
import contextlib
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from data.arrays import FloatArray, IntArray
from serving.engines.runtimes import ExportFormat

# Maximum number of WordPieces in a batch, including padding.
MAX_WORDPIECES = 1024
# Maximum number of values that the network outputs for a batch.
MAX_VALUES = 1 << 24

# {name of an output: its array}
OutputArrays: TypeAlias = dict[str, FloatArray]
# {name of an input: shape, with None for a variable size}
InputShapes: TypeAlias = dict[str, tuple[int | None, ...]]


class EngineError(ValueError):
    """A network failed, or returned values that are not finite numbers.

    The cause is not the request, but a lack of memory, the model or a bug.
    """


class PackedInput(NamedTuple):
    """One input of a network.

    Attributes:
        ids: ids of the WordPieces, including special tokens.
        first_length: number of ids in segment 0.
        num_cut: number of WordPieces beyond the model's maximum length. It is a
            lower bound, because the end of a very long text is not tokenized.
    """

    ids: list[int]
    first_length: int
    num_cut: int = 0


class _Row(NamedTuple):
    """One input of a request, which becomes a row of a batch.

    Attributes:
        key: key of the request.
        input_index: index of the input among the inputs of the request.
        input: WordPieces that the row contains, without its padding.
    """

    key: int
    input_index: int
    input: PackedInput


class _InputBatch(NamedTuple):
    """Rows that the network computes together.

    Attributes:
        rows: the rows.
        length: length to which they are padded.
    """

    rows: Sequence[_Row]
    length: int


class Engine(abc.ABC):
    """A network that is loaded into a runtime.

    A subclass loads a file: `Subclass(path, num_threads)`, where `num_threads`
    None means one per CPU. It raises an OSError if the file cannot be loaded,
    and a MemoryError if the model does not fit into memory.

    Args:
        inputs: {name of an input: shape, with None for a variable size}.
        needs_single_rows: True if the result for a row depends on the other
            rows of the batch and on the padding. Then pass one row at a time,
            with as little padding as possible.

    Attributes:
        name: name of the runtime.
    """

    name: ClassVar[ExportFormat]

    def __init__(
        self, inputs: InputShapes, *, needs_single_rows: bool = False
    ) -> None:
        self.inputs = inputs
        self.needs_single_rows = needs_single_rows

    @abc.abstractmethod
    def _compute(self, features: Mapping[str, IntArray]) -> OutputArrays:
        """Runs the network. Several threads may call this method."""

    def run(self, features: Mapping[str, IntArray]) -> OutputArrays:
        """Runs the network and returns its outputs. Thread-safe.

        Args:
            features: input_ids, input_mask and segment_ids, int32 [B, F].

        Raises:
            EngineError: the network fails, for example for lack of memory.
            ValueError: the batch has no rows.
        """
        if not len(features["input_ids"]):
            # Some runtimes crash on a batch without rows.
            raise ValueError("a batch must contain at least one row")
        try:
            return self._compute(features)
        except Exception as error:
            # The usual cause is a lack of memory.
            reason = " ".join(str(error).split())[:200] or "out of memory"
            raise EngineError(
                f"the model failed on this input: {reason}"
            ) from error

    def lengths(self, max_seq_length: int, pads: bool) -> list[int]:
        """Returns the lengths to which inputs are padded, the shortest first.

        Args:
            max_seq_length: maximum length of an input in WordPieces.
            pads: True to pad all inputs to `max_seq_length`.
        """
        fixed = self.inputs["input_ids"][-1]
        if fixed or pads:
            return [fixed or max_seq_length]
        return _padded_lengths(max_seq_length)

    def run_all(
        self,
        requests: Mapping[int, Sequence[PackedInput]],
        max_seq_length: int,
        pads: bool,
        values_per_wordpiece: int,
    ) -> Iterator[dict[int, list[OutputArrays]]]:
        """Runs the inputs of several requests in batches of similar length.

        Args:
            requests: {key: inputs of a request}.
            max_seq_length: maximum length of an input in WordPieces.
            pads: True to pad all inputs to `max_seq_length`.
            values_per_wordpiece: number of values that the network outputs for
                each WordPiece.

        Yields:
            after each batch, {key of a request: outputs of its inputs, without
            the batch's axis} of the requests whose last inputs it computed. The
            outputs may need much memory, so do not keep them.

        Raises:
            EngineError: the network fails on a batch.
        """
        if empty := [key for key, inputs in requests.items() if not inputs]:
            yield {key: [] for key in empty}
        rows = [
            _Row(key, input_index, network_input)
            for key, inputs in requests.items()
            for input_index, network_input in enumerate(inputs)
        ]
        lengths = self.lengths(max_seq_length, pads)
        max_wordpieces = min(MAX_WORDPIECES, MAX_VALUES // values_per_wordpiece)
        computed: dict[int, dict[int, OutputArrays]] = {
            key: {} for key in requests
        }
        for batch, length in self._create_batches(
            rows, lengths, max_wordpieces
        ):
            outputs = self.run(pad_batch([row.input for row in batch], length))
            completed: dict[int, list[OutputArrays]] = {}
            for index, row in enumerate(batch):
                computed[row.key][row.input_index] = {
                    name: values[index] for name, values in outputs.items()
                }
                if len(computed[row.key]) == len(requests[row.key]):
                    outputs_of_input = computed.pop(row.key)
                    completed[row.key] = [
                        outputs_of_input[input_index]
                        for input_index in sorted(outputs_of_input)
                    ]
            yield completed

    def _create_batches(
        self, rows: Sequence[_Row], lengths: Sequence[int], max_wordpieces: int
    ) -> Iterator[_InputBatch]:
        """Yields the rows in batches of similar length, the longest first.

        `lengths` are those to which inputs are padded, the shortest first. A
        batch contains at most `max_wordpieces`, but at least one row.
        """
        rows = sorted(rows, key=lambda row: -len(row.input.ids))
        start = 0
        while start < len(rows):
            num_ids = len(rows[start].input.ids)
            length = min(length for length in lengths if length >= num_ids)
            num_rows = max(max_wordpieces // length, 1)
            if self.needs_single_rows:
                num_rows = 1
            yield _InputBatch(rows[start : start + num_rows], length)
            start += num_rows


def count_threads(num_threads: int | None) -> int:
    """Returns `num_threads`, or for None the number of usable CPUs."""
    if not num_threads and hasattr(os, "sched_getaffinity"):
        num_threads = len(os.sched_getaffinity(0))
    return num_threads or os.cpu_count() or 1


@contextlib.contextmanager
def named_load_errors(path: Path) -> Iterator[None]:
    """Turns the errors of a runtime that loads `path` into an OSError.

    The message names the file. A MemoryError stays what it is.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # ONNX Runtime's errors have no common base class but Exception.
        raise OSError(
            f"{path} cannot be loaded; export or copy the model again: "
            f"{' '.join(str(error).split())}"
        ) from error


@functools.cache
def _padded_lengths(max_seq_length: int) -> list[int]:
    """Returns the lengths up to `max_seq_length`, the shortest first.

    Up to 64, a length is a multiple of 8. Above, it is a multiple of p / 8,
    where p is the smallest power of 2 that is not below the length.
    """
    lengths = set()
    for size in range(1, max_seq_length + 1):
        step = max((1 << (size - 1).bit_length()) // 8, 8)
        lengths.add(min(-(-size // step) * step, max_seq_length))
    return sorted(lengths)


def pad_batch(
    inputs: Sequence[PackedInput], length: int
) -> dict[str, IntArray]:
    """Returns the padded features of a batch, int32 [B, F] each."""
    ids = np.zeros([len(inputs), length], np.int32)
    for row, network_input in zip(ids, inputs, strict=True):
        row[: len(network_input.ids)] = network_input.ids
    positions = np.arange(length)
    ends = np.array([len(network_input.ids) for network_input in inputs])
    first_ends = np.array(
        [network_input.first_length for network_input in inputs]
    )
    is_real = positions < ends[:, None]
    is_first = positions < first_ends[:, None]
    return {
        "input_ids": ids,
        "input_mask": is_real.astype(np.int32),
        "segment_ids": (is_real & ~is_first).astype(np.int32),
    }
