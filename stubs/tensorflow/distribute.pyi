"""Types of the strategies of `tf.distribute`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tensorflow.data import Dataset

class Strategy:
    extended: Any
    num_replicas_in_sync: int
    def experimental_distribute_dataset(
        self, dataset: Dataset, options: Any = None
    ) -> Any: ...
    def experimental_local_results(self, value: Any) -> tuple[Any, ...]: ...
    def reduce(
        self, reduce_op: ReduceOp, value: Any, axis: int | None
    ) -> Any: ...
    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any: ...
    def scope(self) -> AbstractContextManager[Any]: ...

class MirroredStrategy(Strategy):
    def __init__(
        self, devices: Any = None, cross_device_ops: Any = None
    ) -> None: ...

class MultiWorkerMirroredStrategy(Strategy):
    cluster_resolver: Any

class OneDeviceStrategy(Strategy):
    def __init__(self, device: str) -> None: ...

class TPUStrategy(Strategy):
    def __init__(self, tpu_cluster_resolver: Any = None) -> None: ...

class ReduceOp:
    MEAN: ReduceOp
    SUM: ReduceOp

def get_strategy() -> Strategy: ...
def has_strategy() -> bool: ...

class ReplicaContext:
    num_replicas_in_sync: int
    replica_id_in_sync_group: Any
    def all_reduce(self, reduce_op: ReduceOp, value: Any) -> Any: ...

cluster_resolver: Any

def get_replica_context() -> ReplicaContext: ...
