"""Types of `tf.data`.

A dataset is read as an iterator of its elements: tensors, or dicts or tuples of
them. Batches of elements have the structure of an element.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar, TypeVarTuple, overload

from tensorflow._tensors import Tensor, Value
from tensorflow.data import experimental as experimental

_ElementT_co = TypeVar("_ElementT_co", covariant=True)
_ResultT = TypeVar("_ResultT")
_PartsT = TypeVarTuple("_PartsT")

class Dataset(Generic[_ElementT_co]):
    # An element with a TensorSpec in place of each tensor.
    element_spec: Any
    @staticmethod
    def counter(start: Value = 0, step: Value = 1) -> Dataset[Tensor]: ...
    @staticmethod
    @overload
    def from_tensor_slices(
        tensors: Mapping[str, Value],
    ) -> Dataset[dict[str, Tensor]]: ...
    @staticmethod
    @overload
    def from_tensor_slices(tensors: Value) -> Dataset[Tensor]: ...
    def __iter__(self) -> Iterator[_ElementT_co]: ...
    def __len__(self) -> int: ...
    def batch(
        self, batch_size: Value, drop_remainder: bool = False
    ) -> Dataset[_ElementT_co]: ...
    def enumerate(
        self, start: Value = 0
    ) -> Dataset[tuple[Tensor, _ElementT_co]]: ...
    def flat_map(
        self, map_func: Callable[[_ElementT_co], Dataset[_ResultT]]
    ) -> Dataset[_ResultT]: ...
    def interleave(
        self,
        map_func: Callable[[_ElementT_co], Dataset[_ResultT]],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[_ResultT]: ...
    # A tuple is passed as several arguments.
    @overload
    def map(
        self: Dataset[tuple[*_PartsT]],
        map_func: Callable[[*_PartsT], _ResultT],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[_ResultT]: ...
    @overload
    def map(
        self,
        map_func: Callable[[_ElementT_co], _ResultT],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[_ResultT]: ...
    def prefetch(self, buffer_size: Value) -> Dataset[_ElementT_co]: ...
    def repeat(self, count: Value | None = None) -> Dataset[_ElementT_co]: ...
    def shuffle(
        self,
        buffer_size: Value,
        seed: Value | None = None,
        reshuffle_each_iteration: bool = True,
    ) -> Dataset[_ElementT_co]: ...
    def skip(self, count: Value) -> Dataset[_ElementT_co]: ...
    def take(self, count: Value) -> Dataset[_ElementT_co]: ...
    def with_options(self, options: Options) -> Dataset[_ElementT_co]: ...

class TFRecordDataset(Dataset[Tensor]):
    def __init__(
        self,
        filenames: Value,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
    ) -> None: ...

class Options:
    autotune: experimental.AutotuneOptions
    experimental_distribute: experimental.DistributeOptions
