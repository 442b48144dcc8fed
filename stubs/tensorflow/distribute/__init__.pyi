"""Types of the strategies of `tf.distribute`.

With several replicas, a value of type T may be a container of one T for each
replica, which only methods of the strategy read.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TypeVar, TypeVarTuple

from tensorflow._tensors import Tensor
from tensorflow.data import Dataset
from tensorflow.distribute import cluster_resolver as cluster_resolver

_ArgumentsT = TypeVarTuple("_ArgumentsT")
_T = TypeVar("_T")

class Strategy:
    num_replicas_in_sync: int
    def experimental_distribute_dataset(
        self, dataset: Dataset[_T]
    ) -> Iterable[_T]: ...
    def experimental_local_results(self, value: _T) -> tuple[_T, ...]: ...
    def reduce(
        self, reduce_op: ReduceOp, value: _T, axis: int | None
    ) -> _T: ...
    def run(
        self,
        fn: Callable[[*_ArgumentsT], _T],
        args: tuple[*_ArgumentsT] = ...,
    ) -> _T: ...
    def scope(self) -> AbstractContextManager[Strategy]: ...

class MirroredStrategy(Strategy):
    def __init__(self, devices: list[str] | None = None) -> None: ...

class MultiWorkerMirroredStrategy(Strategy): ...

class OneDeviceStrategy(Strategy):
    def __init__(self, device: str) -> None: ...

class TPUStrategy(Strategy):
    def __init__(
        self,
        tpu_cluster_resolver: cluster_resolver.TPUClusterResolver | None = None,
    ) -> None: ...

class ReduceOp:
    MEAN: ReduceOp
    SUM: ReduceOp

def get_strategy() -> Strategy: ...
def has_strategy() -> bool: ...

class ReplicaContext:
    num_replicas_in_sync: int
    replica_id_in_sync_group: Tensor | int
    def all_reduce(self, reduce_op: ReduceOp, value: _T) -> _T: ...

def get_replica_context() -> ReplicaContext: ...
