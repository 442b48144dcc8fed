"""The flags of every command that runs a model: its files, and the devices.

Training scripts and extract_features.py share them. `read_bert_config` and
`read_tokenizer` in preparation/ read the files that they name. This module
imports no TensorFlow.
"""

import dataclasses
import os
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from files import json_files
from model_folders.training_settings import TrainingSettings
from options import fields
from options.config import Config
from options.fields import PathType, group

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
ValueT = TypeVar("ValueT")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Flags of the model that a script loads, and of its text."""

    bert_config_file: str | None = fields.identity_option(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        path_type=PathType.MODEL,
    )
    vocab_file: str | None = fields.identity_option(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        path_type=PathType.MODEL,
    )
    do_lower_case: bool = fields.identity_option(
        True,
        "Lower-case the text: True for uncased models, False for cased models. "
        "By default, tokenizer_config.json beside the model or the vocabulary "
        "decides.",
    )
    init_checkpoint: str | None = fields.training_option(
        None,
        "Checkpoint to start from: a folder with weights of Google, TF-Hub, "
        "KerasHub, transformers or this project, the prefix of a checkpoint "
        "(bert_model.ckpt), a .safetensors or .h5 file, a pytorch_model.bin, "
        "or hf://OWNER/NAME[@REVISION] to download a model of the Hugging Face "
        "hub. Its folder also states the configuration, the vocabulary and the "
        "casing.",
        path_type=PathType.MODEL,
    )

    @property
    def required_config_file(self) -> str:
        """Value of --bert_config_file. The flag must be set."""
        return required_value(self.bert_config_file)

    @property
    def required_vocab_file(self) -> str:
        """Value of --vocab_file. The flag must be set."""
        return required_value(self.vocab_file)


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelConfig(Config):
    """Base class of the flags of a script that runs a model on its devices."""

    model: ModelOptions = group(ModelOptions)
    devices: DeviceOptions = group(DeviceOptions)

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the files of the command."""
        return self.devices.is_chief

    @property
    def locks_outputs(self) -> bool:
        """Whether this process locks the outputs, as only the chief does."""
        return self.is_chief

    def describe_missing(
        self, flag: str, training_settings: TrainingSettings
    ) -> str:
        """Returns what to set instead of a required flag that is not set.

        Args:
            flag: name of the flag.
            training_settings: settings that the run in --output_dir recorded,
                empty for a new run.
        """
        return f"--{flag}"


def required_value(value: ValueT | None) -> ValueT:
    """Returns the value of a required flag, with a type that has no None.

    For example, --vocab_file may be None on the command line, because the
    folder of --init_checkpoint may state it. `check_required` fails if neither
    sets it. The code that runs after this check calls a property such as
    `ModelOptions.required_vocab_file`, which calls this function.
    """
    assert value is not None, "`check_required` runs before this"
    return value
