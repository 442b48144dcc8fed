"""Flags of all scripts that run a model: tokenizer, export, device, weights."""

import dataclasses
import importlib.util
import os
from collections.abc import Mapping
from typing import Any

import modeling
from files import flags, json_files, requirements
from files.flags import Role
from files.paths import Kind
from training import model_folder

# {value of --mixed_precision: Keras's dtype policy}.
PRECISIONS = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}
# Formats of an export.
_FORMATS = ("saved_model", "litert", "onnx")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TextConfig:
    """Flags that determine how text is split into WordPieces."""

    vocab_file: str = flags.identity(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        kind=Kind.MODEL,
    )
    do_lower_case: bool = flags.identity(
        True,
        "Lower-case the text: True for uncased models, False for cased models. "
        "If the flag is not set, a tokenizer_config.json beside the model or "
        "the vocabulary decides.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """Flags of an export: its folder and its format."""

    export_dir: str | None = flags.neutral(
        None,
        "Export the model for serving to this folder, by default as a "
        "SavedModel.",
        kind=Kind.NEW_FOLDER,
    )
    export_format: str = flags.neutral(
        "saved_model",
        "Format of the export: saved_model, litert or onnx, or several of "
        "them, separated by commas. Only a saved_model can read text. The "
        "other formats read token ids. The tokenizer files are saved beside "
        "the model.",
    )
    export_seq_length: int | None = flags.neutral(
        None,
        "Fixed input length of exports in formats other than saved_model. By "
        "default, inputs may have any length.",
        at_least=1,
    )
    export_version: int | None = flags.neutral(
        None,
        "Version of the export. It is written to the subfolder of --export_dir "
        "with this number, where TensorFlow Serving looks for versions.",
        at_least=1,
    )
    quantize: str | None = flags.neutral(
        None,
        "Quantize LiteRT and ONNX exports to int8. With this flag, the default "
        "format is litert. A SavedModel in the same export is not quantized.",
        choices=("int8",),
    )

    def __post_init__(self) -> None:
        """Checks the flags, and appends --export_version to --export_dir."""
        for name, default, folder in (
            ("export_version", None, "the folder of all versions"),
            ("export_format", "saved_model", "the folder to write"),
            ("quantize", None, "the folder to write"),
        ):
            value = getattr(self, name)
            if value != default and self.export_dir is None:
                raise ValueError(
                    f"--{name}={value} needs --export_dir, {folder}"
                )
        # Ignore an empty path here (such as from an unset shell variable),
        # because `paths.check_paths` reports it.
        if self.export_version is not None and self.export_dir:
            path = os.path.join(self.export_dir, str(self.export_version))
            object.__setattr__(self, "export_dir", path)
            object.__setattr__(self, "export_version", None)
        if self.quantize and self.export_format == "saved_model":
            if "export_format" in getattr(self, "given_flags", ()):
                raise ValueError(
                    f"--quantize={self.quantize} is not for --export_format="
                    "saved_model; set --export_format=litert or onnx"
                )
            object.__setattr__(self, "export_format", "litert")
        self._check_format()

    @property
    def export_formats(self) -> tuple[str, ...]:
        """Formats of the export, without duplicates."""
        names = map(str.strip, self.export_format.split(","))
        return tuple(dict.fromkeys(names))

    def _check_format(self) -> None:
        names = self.export_formats
        for name in names:
            if name not in _FORMATS:
                raise ValueError(
                    f"--export_format={self.export_format}: {name!r} is not "
                    f"a format; choose from {', '.join(_FORMATS)}"
                )
        if "onnx" in names:
            # ONNX Runtime contains the quantizer.
            needed = ["onnx", "onnxruntime"] if self.quantize else ["onnx"]
            missing = [m for m in needed if not importlib.util.find_spec(m)]
            if missing:
                raise ValueError(
                    f"--export_format=onnx needs {' and '.join(missing)}: "
                    f"{requirements.install('requirements/onnx.txt')}"
                )
        if self.export_seq_length and names == ("saved_model",):
            raise ValueError(
                "--export_seq_length is not for saved_model, which accepts "
                "inputs of any length; remove the flag, or choose another "
                "--export_format"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceConfig(ExportConfig):
    """Flags that select the devices and the precision of the computation."""

    distribution_strategy: str | None = flags.neutral(
        None,
        "Distribution strategy. By default, TF_CONFIG and the available "
        "devices determine it.",
        choices=("one_device", "mirrored", "multi_worker", "tpu"),
    )
    mixed_precision: str = flags.training(
        "float32",
        "Precision of the computation. Variables stay float32.",
        choices=tuple(PRECISIONS),
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
        "Expected number of TPU cores. A warning is logged if the TPU's number "
        "differs.",
    )

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's files.

        TF_CONFIG may list several workers. Then only the chief writes files,
        or the first worker if there is no chief.

        Raises:
            ValueError: TF_CONFIG is not JSON.
        """
        is_worker = "TF_CONFIG" in os.environ and not self.use_tpu
        if not is_worker or self.distribution_strategy not in (
            None,
            "multi_worker",
        ):
            return True
        config = json_files.parse_json(os.environ["TF_CONFIG"], "TF_CONFIG")
        task, cluster = config.get("task", {}), config.get("cluster", {})
        if task.get("type", "chief") == "worker":
            return "chief" not in cluster and int(task.get("index", 0)) == 0
        return task.get("type", "chief") == "chief"

    @property
    def is_tpu(self) -> bool:
        """Whether the model runs on a TPU, which needs fixed shapes."""
        return self.use_tpu or self.distribution_strategy == "tpu"

    @property
    def has_fixed_shapes(self) -> bool:
        """Whether each new batch shape would recompile the model."""
        return self.is_tpu or self.jit_compile


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelConfig(DeviceConfig):
    """Flags of the model that a script loads, in addition to device flags."""

    bert_config_file: str = flags.identity(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        kind=Kind.MODEL,
    )
    init_checkpoint: str | None = flags.training(
        None,
        "Checkpoint to start from: a folder with weights, the prefix of a TF1 "
        "checkpoint (bert_model.ckpt), a .safetensors file or a "
        "pytorch_model.bin. The configuration, the vocabulary and the casing "
        "are read from the checkpoint's folder, unless other flags set them.",
        kind=Kind.MODEL,
    )
    given_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
    )

    def __post_init__(self) -> None:
        """Sets missing flags to the values in the model's folder.

        The network, the vocabulary and the casing are always read from the
        folder of `weights`. The settings of the head are read only if the
        command does not train.

        Raises:
            ValueError: a required flag is not set, and the folder does not
                contain a value for the flag.
        """
        told = self._read_folder(self.weights) if self.weights else {}
        roles = (Role.IDENTITY, Role.HEAD, Role.DECODING)
        changed = {
            field.name: told[field.name]
            for field in flags.fields(self, *roles)
            if told.get(field.name) is not None
            and field.name not in self.given_flags
            and getattr(self, field.name) == field.default
        }
        for name, value in changed.items():
            if not flags.accepts(type(self), name, value):
                raise ValueError(
                    f"{self.weights}: {model_folder.FILE} contains {name}="
                    f"{value!r}, which --{name} does not accept; restore "
                    f"{model_folder.FILE} from a backup"
                )
            object.__setattr__(self, name, value)
        if hasattr(self, "all_flags"):
            every = {**self.all_flags, **changed}
            object.__setattr__(self, "all_flags", every)
        missing = [
            f"--{name}" for name in self.needed if getattr(self, name) is None
        ]
        # `paths.check_paths` reports an empty --init_checkpoint.
        if missing and self.init_checkpoint != "":
            where = "see --help"
            if self.weights:
                # Fail here if the path does not exist or contains no weights,
                # such as the path of an export.
                modeling.find_checkpoint(self.weights)
                where = f"{self.weights} does not set them"
            raise ValueError(
                f"missing required flags: {', '.join(missing)} ({where})"
            )
        super().__post_init__()

    def _read_folder(self, path: str) -> dict[str, Any]:
        """Reads {flag: value} from the files beside the weights at `path`."""
        folder = model_folder.read(path)
        trains = getattr(self, "do_train", False)
        # A resumed run continues with the head of its checkpoint.
        if not trains or getattr(self, "has_checkpoint", False):
            folder.check_class(self.head)
        return {
            **({} if trains else {**folder.task, **folder.network}),
            "left_to_right": folder.network["left_to_right"],
            "bert_config_file": folder.config_file,
            "vocab_file": folder.vocab_file,
            "do_lower_case": folder.do_lower_case,
        }

    @property
    def head(self) -> str | None:
        """Class name of the model, or None to accept any class.

        If the saved model is not of this class, a command that does not train
        fails.
        """
        return None

    @property
    def weights(self) -> str | None:
        """Path of the weights to load, or None if no flag names weights."""
        return self.init_checkpoint

    @property
    def needed(self) -> tuple[str, ...]:
        """Flags that are required unless the model's folder records them."""
        return ("bert_config_file",)
