"""The flags that select the devices and the precision of the computation.

Training scripts and extract_features.py share them.
"""

import dataclasses
import os
from typing import Any, Literal, TypeAlias, get_args

from files import json_files
from options import fields

Precision: TypeAlias = Literal["float32", "bfloat16", "float16"]
# {value of --mixed_precision: Keras's dtype policy}.
POLICY_OF_PRECISION: dict[Precision, str] = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}
StrategyName: TypeAlias = Literal[
    "one_device", "mirrored", "multi_worker", "tpu"
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Flags that select the devices and the precision of the computation."""

    distribution_strategy: StrategyName | None = fields.neutral_option(
        None,
        "Distribution strategy. By default, TF_CONFIG and the available "
        "devices determine it.",
        choices=get_args(StrategyName),
    )
    mixed_precision: Precision = fields.training_option(
        "float32",
        "Precision of the computation. Variables stay float32.",
        choices=tuple(POLICY_OF_PRECISION),
    )
    jit_compile: bool = fields.training_option(
        False,
        "Compile the network with XLA, for GPUs and TPUs. Slower on a CPU.",
    )
    use_tpu: bool = fields.neutral_option(False, "Use a TPU.")
    tpu_name: str | None = fields.neutral_option(
        None, "Name of the TPU, or its grpc address."
    )
    tpu_zone: str | None = fields.neutral_option(None, "Zone of the TPU.")
    gcp_project: str | None = fields.neutral_option(
        None, "Cloud project of the TPU."
    )
    master: str | None = fields.neutral_option(
        None, "Address of the TPU, if --tpu_name is not set."
    )
    num_tpu_cores: int = fields.neutral_option(
        8,
        "Ignored, because a TPU's cores are counted. A flag of Google's code.",
    )

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's files.

        TF_CONFIG may list several workers. Then only the chief writes files,
        or the first worker if there is no chief.

        Raises:
            ValueError: TF_CONFIG is not JSON.
        """
        is_multi = self.distribution_strategy in (None, "multi_worker")
        if "TF_CONFIG" not in os.environ or self.use_tpu or not is_multi:
            return True
        # Any, because TensorFlow checks the entries.
        tf_config: Any = json_files.parse_json(
            os.environ["TF_CONFIG"], "TF_CONFIG"
        )
        task = {"type": "chief", "index": 0} | tf_config.get("task", {})
        if task["type"] == "worker" and "chief" not in tf_config["cluster"]:
            return int(task["index"]) == 0
        return bool(task["type"] == "chief")

    @property
    def is_tpu(self) -> bool:
        """Whether the model runs on a TPU, which needs fixed shapes."""
        return self.use_tpu or self.distribution_strategy == "tpu"
