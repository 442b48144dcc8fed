"""The role of this process among the workers of a run, from TF_CONFIG.

Nothing here imports TensorFlow: a lock is taken before it is loaded.
"""

import os

from files import json_files


def is_chief(strategy: str | None = None, use_tpu: bool = False) -> bool:
    """Returns whether this process writes the run's files.

    One worker does: the chief, or without one the first worker.

    Args:
        strategy: --distribution_strategy; None = chosen from TF_CONFIG.
        use_tpu: --use_tpu, which has one process.

    Raises:
        ValueError: TF_CONFIG is malformed.
    """
    is_worker = "TF_CONFIG" in os.environ and not use_tpu
    if not is_worker or strategy not in (None, "multi_worker"):
        return True
    config = json_files.parse_json(os.environ["TF_CONFIG"], "TF_CONFIG")
    task, cluster = config.get("task") or {}, config.get("cluster") or {}
    if not isinstance(task, dict) or not isinstance(cluster, dict):
        raise ValueError('TF_CONFIG: "task" and "cluster" must be JSON objects')
    index = task.get("index", 0)
    if not str(index).isdecimal():
        raise ValueError(
            f'TF_CONFIG: "index" of "task" must be a number. Received: {index}'
        )
    if task.get("type", "chief") == "worker":
        return "chief" not in cluster and int(index) == 0
    return task.get("type", "chief") == "chief"
