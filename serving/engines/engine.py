"""An engine: a loaded network, which runs batches of inputs.

An engine runs the inputs of many requests in batches of similar length, so the
outputs of a request may come from several batches.

A caller of an engine or of a model can tell these errors apart:

    OSError                  the file of the network cannot be loaded
    ValueError               what is asked is wrong
      RequestError           a request to a text task is wrong
      EngineError            the network fails on an input that is right
    another exception        a bug

An EngineError is a ValueError, so that commands report it in a line, and so
that callers who do not tell them apart catch one class.

B = batch size, F = length of an input in WordPieces, with padding.
"""

import abc
import contextlib
import functools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np

from data.arrays import FloatArray, IntArray
from exporting.export_formats import ExportFormat

# Maximum number of WordPieces in a batch, including padding.
MAX_BATCH_TOKENS = 1024
# Maximum number of values that the network outputs for a batch.
MAX_VALUES = 1 << 24

# {name of an input: shape, with None for a variable size}
InputShapes: TypeAlias = dict[str, tuple[int | None, ...]]

# {name of an output: its array}
OutputArrays: TypeAlias = dict[str, FloatArray]
_ArrayT = TypeVar("_ArrayT", IntArray, FloatArray)


class NetworkInput(NamedTuple):
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


class BatchLimits(NamedTuple):
    """Limits the lengths and the size of an engine's batches.

    Attributes:
        lengths: lengths to which inputs may be padded, in WordPieces, the
            shortest first.
        max_tokens: maximum number of WordPieces in a batch, including padding.
            A longer input is a batch of its own.
        needs_single_rows: whether each batch contains one row.
    """

    lengths: Sequence[int]
    max_tokens: int
    needs_single_rows: bool = False

    def padded_length(self, num_tokens: int) -> int:
        """Returns the length to which an input of WordPieces is padded.

        Raises:
            ValueError: the input is longer than all `lengths`.
        """
        return min(length for length in self.lengths if length >= num_tokens)

    def max_rows(self, tokens_per_row: int) -> int:
        """Returns the maximum number of rows in a batch.

        `tokens_per_row` is the number of WordPieces in a row, with padding.
        """
        if self.needs_single_rows:
            return 1
        return max(self.max_tokens // tokens_per_row, 1)


class EngineError(ValueError):
    """A network failed, or returned values that are not finite numbers.

    The cause is not the request, but a lack of memory, the model or the
    package that runs it.
    """


class Engine(abc.ABC):
    """Runs a network, which a package such as ONNX Runtime has loaded.

    A subclass loads a file: `Subclass(path, num_threads)`, where `num_threads`
    None means one per CPU. It raises an OSError if the file cannot be loaded,
    and a MemoryError if the model does not fit into memory.

    Args:
        inputs: {name of an input: shape, with None for a variable size}.
        needs_single_rows: True if the result for a row depends on the other
            rows of the batch and on the padding. Then pass one row at a time,
            with as little padding as possible.

    Attributes:
        name: format of the networks that the engine loads.
    """

    name: ClassVar[ExportFormat]

    def __init__(
        self, inputs: InputShapes, *, needs_single_rows: bool = False
    ) -> None:
        self.inputs = inputs
        self.needs_single_rows = needs_single_rows

    @abc.abstractmethod
    def _compute(self, features: Mapping[str, IntArray]) -> OutputArrays:
        """Runs the network. Several threads may call this method.

        Only the calls of the package are inside of `explain_engine_errors`, so
        that a bug in this method stays visible as such.

        Raises:
            EngineError: the network fails.
        """

    def run(self, features: Mapping[str, IntArray]) -> OutputArrays:
        """Runs the network and returns its outputs. Thread-safe.

        Args:
            features: input_ids, input_mask and segment_ids, int32 [B, F].

        Raises:
            EngineError: the network fails, for example for lack of memory.
            ValueError: the batch has no rows.
        """
        if not len(features["input_ids"]):
            # Some packages crash on a batch without rows.
            raise ValueError("a batch must contain at least one row")
        return self._compute(features)

    def run_padded(
        self, features: Mapping[str, IntArray], limits: BatchLimits
    ) -> OutputArrays:
        """Runs inputs that are padded to any length, in their order.

        Pads the inputs again, to the length that `run_all` would choose. So
        this method and `run_all` compute the same outputs.

        Args:
            features: input_ids, input_mask and segment_ids, int32 [B, T], or
                [B, C, T] for a network that chooses among C texts.
            limits: limits of the engine's batches, from `batch_limits`.

        Raises:
            EngineError: the network fails.
            ValueError: the batch has no rows, or an input is too long.
        """
        length = limits.padded_length(features["input_mask"].sum(-1).max())
        return self.run(
            {
                name: resize_last_axis(features[name], length)
                for name in self.inputs
            }
        )

    def batch_limits(
        self,
        max_seq_length: int,
        *,
        trims_padding: bool,
        values_per_token: int = 1,
    ) -> BatchLimits:
        """Returns the limits of the engine's batches of a model.

        The arguments are all that an engine must know of a model.

        Args:
            max_seq_length: maximum length of an input in WordPieces.
            trims_padding: False to pad all inputs to `max_seq_length`.
            values_per_token: number of values that the network outputs for
                each WordPiece.
        """
        fixed = self.inputs["input_ids"][-1]
        lengths = list_padded_lengths(max_seq_length)
        if fixed or not trims_padding:
            lengths = [fixed or max_seq_length]
        return BatchLimits(
            lengths,
            min(MAX_BATCH_TOKENS, MAX_VALUES // values_per_token),
            self.needs_single_rows,
        )

    def run_all(
        self,
        inputs_of_request: Mapping[int, Sequence[NetworkInput]],
        limits: BatchLimits,
    ) -> Iterator[dict[int, list[OutputArrays]]]:
        """Runs the inputs of several requests in batches of similar length.

        Args:
            inputs_of_request: {key of a request: its inputs}.
            limits: limits of the engine's batches, from `batch_limits`.

        Yields:
            after each batch, {key of a request: outputs of its inputs, without
            the batch's axis} of the requests whose last inputs the batch
            contained. The outputs may need much memory, so do not keep them.

        Raises:
            EngineError: the network fails on a batch.
        """
        empty = [key for key, inputs in inputs_of_request.items() if not inputs]
        if empty:
            yield {key: [] for key in empty}
        collector = OutputCollector(inputs_of_request)
        for batch in plan_batches(inputs_of_request, limits):
            outputs = self.run(batch.to_features())
            yield collector.add_batch(batch.rows, outputs)


class BatchRow(NamedTuple):
    """One input of a request, which becomes a row of a batch.

    Attributes:
        key: key of the request.
        input_index: index of the input among the inputs of the request.
        input: WordPieces that the row contains, without its padding.
    """

    key: int
    input_index: int
    input: NetworkInput


class InputBatch(NamedTuple):
    """Rows that the network computes together.

    Attributes:
        rows: rows of similar length.
        length: length to which they are padded, in WordPieces.
    """

    rows: Sequence[BatchRow]
    length: int

    def to_features(self) -> dict[str, IntArray]:
        """Returns the padded features of the rows, int32 [B, F] each."""
        return pad_batch([row.input for row in self.rows], self.length)


@functools.cache
def list_padded_lengths(max_seq_length: int) -> list[int]:
    """Returns the lengths up to `max_seq_length`, the shortest first.

    Up to 64, a length is a multiple of 8. Above, it is a multiple of p / 8,
    where p is the smallest power of 2 that is not below the length.
    """
    lengths = set()
    for size in range(1, max_seq_length + 1):
        step = max((1 << (size - 1).bit_length()) // 8, 8)
        padded_size = math.ceil(size / step) * step
        lengths.add(min(padded_size, max_seq_length))
    return sorted(lengths)


def plan_batches(
    inputs_of_request: Mapping[int, Sequence[NetworkInput]], limits: BatchLimits
) -> Iterator[InputBatch]:
    """Yields the inputs of requests in batches, the longest inputs first.

    Inputs of the same length stay in the order of the requests.

    Args:
        inputs_of_request: {key of a request: its inputs}. No input is longer
            than the last of `limits.lengths`.
        limits: limits of the engine's batches.
    """
    rows = sorted(
        _list_rows(inputs_of_request), key=lambda row: -len(row.input.ids)
    )
    start = 0
    while start < len(rows):
        length = limits.padded_length(len(rows[start].input.ids))
        num_rows = limits.max_rows(length)
        yield InputBatch(rows[start : start + num_rows], length)
        start += num_rows


def _list_rows(
    inputs_of_request: Mapping[int, Sequence[NetworkInput]],
) -> list[BatchRow]:
    return [
        BatchRow(key, input_index, network_input)
        for key, inputs in inputs_of_request.items()
        for input_index, network_input in enumerate(inputs)
    ]


def pad_batch(
    inputs: Sequence[NetworkInput], length: int
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


def resize_last_axis(values: _ArrayT, size: int) -> _ArrayT:
    """Cuts the last axis of an array to `size`, or pads it with 0."""
    padding = [(0, 0)] * (values.ndim - 1) + [(0, size)]
    return np.pad(values, padding)[..., :size]


class OutputCollector:
    """Collects outputs of batches until all outputs of a request are complete.

    The outputs may need much memory, so the collector drops the outputs that it
    returns.

    Args:
        inputs_of_request: {key of a request: its inputs}.
    """

    def __init__(
        self, inputs_of_request: Mapping[int, Sequence[NetworkInput]]
    ) -> None:
        # {key of a request: outputs of its inputs, {} until they are computed}.
        self._outputs: dict[int, list[OutputArrays]] = {
            key: [{} for _ in inputs]
            for key, inputs in inputs_of_request.items()
        }
        # {key of a request: number of its inputs that are not computed yet}.
        self._num_missing = {
            key: len(inputs) for key, inputs in inputs_of_request.items()
        }

    def add_batch(
        self, rows: Sequence[BatchRow], outputs: OutputArrays
    ) -> dict[int, list[OutputArrays]]:
        """Adds the outputs of a batch.

        Args:
            rows: the B rows of the batch.
            outputs: {name of an output: array [B, ...]}.

        Returns:
            {key of a request: outputs of its inputs, without the batch's axis}
            of the requests that the batch completes.
        """
        completed = {}
        for row_index, (key, input_index, _) in enumerate(rows):
            self._outputs[key][input_index] = {
                name: values[row_index] for name, values in outputs.items()
            }
            self._num_missing[key] -= 1
            if not self._num_missing[key]:
                completed[key] = self._outputs.pop(key)
        return completed


def count_threads(num_threads: int | None) -> int:
    """Returns `num_threads`, or for None the number of usable CPUs."""
    if not num_threads and hasattr(os, "sched_getaffinity"):
        num_threads = len(os.sched_getaffinity(0))
    return num_threads or os.cpu_count() or 1


# The errors of ONNX Runtime have no common base class but Exception.
@contextlib.contextmanager
def explain_load_errors(path: Path) -> Iterator[None]:
    """Turns the errors of a package that loads `path` into an OSError.

    The message names the file. A MemoryError is raised unchanged.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise OSError(
            f"{path} cannot be loaded; export or copy the model again: "
            f"{' '.join(str(error).split())}"
        ) from error


@contextlib.contextmanager
def explain_engine_errors() -> Iterator[None]:
    """Turns the errors of a package that runs a network into an EngineError."""
    try:
        yield
    except Exception as error:
        # The usual cause is a lack of memory.
        reason = " ".join(str(error).split())[:200] or "out of memory"
        raise EngineError(
            f"the model failed on this input: {reason}"
        ) from error
