"""Types of `tf.data`."""

from collections.abc import Callable, Iterator
from typing import Any, Generic

from tensorflow._tensors import Tensor, Value
from typing_extensions import TypeVar

_ElementT = TypeVar("_ElementT", default=Any, covariant=True)
_ResultT = TypeVar("_ResultT")

class Dataset(Generic[_ElementT]):
    element_spec: Any
    @staticmethod
    def counter(start: Value = 0, step: Value = 1) -> Dataset[Tensor]: ...
    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset: ...
    @staticmethod
    def from_tensors(tensors: Any) -> Dataset: ...
    def __iter__(self) -> Iterator[_ElementT]: ...
    def __len__(self) -> int: ...
    def batch(
        self, batch_size: Value, drop_remainder: bool = False
    ) -> Dataset: ...
    def enumerate(
        self, start: Value = 0
    ) -> Dataset[tuple[Tensor, _ElementT]]: ...
    # The dataset of tuples calls `predicate` with one argument for each.
    def filter(
        self, predicate: Callable[..., Tensor]
    ) -> Dataset[_ElementT]: ...
    def flat_map(
        self, map_func: Callable[..., Dataset[_ResultT]]
    ) -> Dataset[_ResultT]: ...
    def interleave(
        self,
        map_func: Callable[..., Dataset[_ResultT]],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[_ResultT]: ...
    def map(
        self,
        map_func: Callable[..., _ResultT],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[_ResultT]: ...
    def prefetch(self, buffer_size: Value) -> Dataset[_ElementT]: ...
    def repeat(self, count: Value | None = None) -> Dataset[_ElementT]: ...
    def shard(self, num_shards: Value, index: Value) -> Dataset[_ElementT]: ...
    def shuffle(
        self,
        buffer_size: Value,
        seed: Value | None = None,
        reshuffle_each_iteration: bool = True,
    ) -> Dataset[_ElementT]: ...
    def skip(self, count: Value) -> Dataset[_ElementT]: ...
    def take(self, count: Value) -> Dataset[_ElementT]: ...
    def with_options(self, options: Options) -> Dataset[_ElementT]: ...

class TFRecordDataset(Dataset[Tensor]):
    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
    ) -> None: ...

class Options:
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

experimental: Any
