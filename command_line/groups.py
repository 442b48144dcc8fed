"""Groups of flags: the model, its export and the devices.

Training scripts, tools and extract_features.py share them. Each field defines a
flag, its default and help. This module imports no TensorFlow.
"""

import dataclasses
import importlib.util
import os
from typing import Literal, TypeAlias, get_args

from command_line import config_values, flags
from command_line.path_flags import PathKind
from files import json_files
from imports.installation import install_command

Precision: TypeAlias = Literal["float32", "bfloat16", "float16"]
# {value of --mixed_precision: Keras's dtype policy}.
POLICY_OF_PRECISION: dict[Precision, str] = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}
ExportFormat: TypeAlias = Literal["saved_model", "litert", "onnx"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
StrategyName: TypeAlias = Literal[
    "one_device", "mirrored", "multi_worker", "tpu"
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Flags of the model that a script loads, and of its text."""

    bert_config_file: str | None = flags.identity(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        kind=PathKind.MODEL,
    )
    vocab_file: str | None = flags.identity(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        kind=PathKind.MODEL,
    )
    do_lower_case: bool = flags.identity(
        True,
        "Lower-case the text: True for uncased models, False for cased models. "
        "By default, tokenizer_config.json beside the model or the vocabulary "
        "decides.",
    )
    init_checkpoint: str | None = flags.training(
        None,
        "Checkpoint to start from: a folder with weights of Google, TF-Hub, "
        "KerasHub, transformers or this project, the prefix of a checkpoint "
        "(bert_model.ckpt), a .safetensors or .h5 file, a pytorch_model.bin, "
        "or hf://OWNER/NAME[@REVISION] to download a model of the Hugging Face "
        "hub. Its folder also states the configuration, the vocabulary and the "
        "casing.",
        kind=PathKind.MODEL,
    )

    @property
    def required_config_file(self) -> str:
        """Value of --bert_config_file. The flag must be set."""
        return config_values.required_value(self.bert_config_file)

    @property
    def required_vocab_file(self) -> str:
        """Value of --vocab_file. The flag must be set."""
        return config_values.required_value(self.vocab_file)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportFlags:
    """Flags of an export: its folder and its format."""

    export_dir: str | None = flags.neutral(
        None,
        "Export the model for serving to this folder, such as models/mrpc/1 "
        "for TensorFlow Serving, which looks for numbered folders.",
        kind=PathKind.NEW_FOLDER,
    )
    export_format: str | None = flags.neutral(
        None,
        "Format of the export: saved_model, litert or onnx, or several of "
        "them, separated by commas. Only a saved_model can read text. The "
        "others read token ids, and the tokenizer's files are saved beside "
        "them. The default is saved_model, or litert with --quantize.",
    )
    export_seq_length: int | None = flags.neutral(
        None,
        "Fixed input length of exports in formats other than saved_model. By "
        "default, inputs may have any length.",
        at_least=3,
    )
    quantize: Literal["int8"] | None = flags.neutral(
        None,
        "Quantize LiteRT and ONNX exports to int8. A SavedModel in the same "
        "export is not quantized.",
        choices=("int8",),
    )

    @property
    def export_formats(self) -> tuple[ExportFormat, ...]:
        """Formats of the export, without duplicates."""
        names = self._format_names
        return tuple(name for name in names if name in EXPORT_FORMATS)

    @property
    def _format_names(self) -> tuple[str, ...]:
        """Names in --export_format, of formats or not: `check` tells."""
        default = "litert" if self.quantize else "saved_model"
        names = (self.export_format or default).split(",")
        return tuple(dict.fromkeys(map(str.strip, names)))

    def check(self) -> None:
        """Checks the flags of an export, before any slow work.

        Raises:
            ValueError: flags contradict each other, or a format is unknown or
                needs a package that is not installed.
        """
        for name in ("export_format", "quantize"):
            if vars(self)[name] and self.export_dir is None:
                raise ValueError(f"--{name} needs --export_dir")
        names = self._format_names
        if unknown := [name for name in names if name not in EXPORT_FORMATS]:
            raise ValueError(
                f"--export_format={self.export_format}: {unknown[0]!r} is not "
                f"a format; choose from {', '.join(EXPORT_FORMATS)}"
            )
        if self.quantize and names == ("saved_model",):
            raise ValueError(
                f"--quantize={self.quantize} is not for --export_format="
                "saved_model; set --export_format=litert or onnx"
            )
        # ONNX Runtime contains the quantizer.
        needed = ["onnx", "onnxruntime"] if self.quantize else ["onnx"]
        missing = [
            name for name in needed if not importlib.util.find_spec(name)
        ]
        if "onnx" in names and missing:
            raise ValueError(
                f"--export_format=onnx needs {' and '.join(missing)}: "
                f"{install_command('onnx')}"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceFlags:
    """Flags that select the devices and the precision of the computation."""

    distribution_strategy: StrategyName | None = flags.neutral(
        None,
        "Distribution strategy. By default, TF_CONFIG and the available "
        "devices determine it.",
        choices=get_args(StrategyName),
    )
    mixed_precision: Precision = flags.training(
        "float32",
        "Precision of the computation. Variables stay float32.",
        choices=tuple(POLICY_OF_PRECISION),
    )
    jit_compile: bool = flags.training(
        False,
        "Compile the network with XLA, for GPUs and TPUs. Slower on a CPU.",
    )
    use_tpu: bool = flags.neutral(False, "Use a TPU.")
    tpu_name: str | None = flags.neutral(
        None, "Name of the TPU, or its grpc address."
    )
    tpu_zone: str | None = flags.neutral(None, "Zone of the TPU.")
    gcp_project: str | None = flags.neutral(None, "Cloud project of the TPU.")
    master: str | None = flags.neutral(
        None, "Address of the TPU, if --tpu_name is not set."
    )
    num_tpu_cores: int = flags.neutral(
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
        config = json_files.parse_json(os.environ["TF_CONFIG"], "TF_CONFIG")
        task = {"type": "chief", "index": 0} | config.get("task", {})
        if task["type"] == "worker" and "chief" not in config["cluster"]:
            return int(task["index"]) == 0
        return bool(task["type"] == "chief")

    @property
    def is_tpu(self) -> bool:
        """Whether the model runs on a TPU, which needs fixed shapes."""
        return self.use_tpu or self.distribution_strategy == "tpu"
