"""Plans the batches of an engine, and collects the outputs of each request.

An engine runs the inputs of many requests in batches of similar length, so the
outputs of a request may come from several batches.

B = batch size, F = length of an input in WordPieces, with padding.
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from data.arrays import FloatArray, IntArray

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
        max_wordpieces: maximum number of WordPieces in a batch, including
            padding. A longer input is a batch of its own.
        needs_single_rows: whether each batch contains one row.
    """

    lengths: Sequence[int]
    max_wordpieces: int
    needs_single_rows: bool = False

    def padded_length(self, num_wordpieces: int) -> int:
        """Returns the length to which an input of WordPieces is padded.

        Raises:
            ValueError: the input is longer than all `lengths`.
        """
        return min(
            length for length in self.lengths if length >= num_wordpieces
        )

    def max_rows(self, num_wordpieces: int) -> int:
        """Returns the maximum number of rows in a batch.

        `num_wordpieces` is the number in a row, with padding.
        """
        if self.needs_single_rows:
            return 1
        return max(self.max_wordpieces // num_wordpieces, 1)


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
        """Returns the padded features of the rows, int32 [B, T] each."""
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
    """Returns the padded features of a batch, int32 [B, T] each."""
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
