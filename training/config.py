"""Flags that scripts share. Each field defines a flag, its default and help.

`files/flags.py` defines the flags of a class, and returns an instance of the
class with the parsed values. resolve.py completes them with the values of the
model's folder. This module imports no TensorFlow.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from files import flags, json_files
from files.paths import Kind

# {value of --mixed_precision: Keras's dtype policy}.
PRECISIONS = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Flags of the model that a script loads, and of its text.

    `resolve` sets `weights` to the path of the weights that the command uses,
    or trains. `given_flags` contains {name: value} of the flags on the command
    line.
    """

    bert_config_file: str = flags.identity(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        kind=Kind.MODEL,
    )
    vocab_file: str = flags.identity(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        kind=Kind.MODEL,
    )
    do_lower_case: bool = flags.identity(
        True,
        "Lower-case the text: True for uncased models, False for cased models. "
        "By default, tokenizer_config.json beside the model or the vocabulary "
        "decides.",
    )
    init_checkpoint: str | None = flags.training(
        None,
        "Checkpoint to start from: a folder with weights, the prefix of a TF1 "
        "checkpoint (bert_model.ckpt), a .safetensors file, a "
        "pytorch_model.bin, or hf://OWNER/NAME[@REVISION] to download a model "
        "of the Hugging Face hub. Its folder also states the configuration, "
        "the vocabulary and the casing.",
        kind=Kind.MODEL,
    )
    weights: str | None = None
    given_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
    )

    @property
    def head(self) -> str | None:
        """Class of the model, or None for any class."""
        return None

    @property
    def required(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return ("bert_config_file", "vocab_file")

    def check(self) -> None:
        """Raises a ValueError if flags contradict each other."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """Flags of an export: its folder and its format."""

    export_dir: str | None = flags.neutral(
        None,
        "Export the model for serving to this folder, such as models/mrpc/1 "
        "for TensorFlow Serving, which looks for numbered folders.",
        kind=Kind.NEW_FOLDER,
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
    quantize: str | None = flags.neutral(
        None,
        "Quantize LiteRT and ONNX exports to int8. A SavedModel in the same "
        "export is not quantized.",
        choices=("int8",),
    )

    @property
    def export_formats(self) -> tuple[str, ...]:
        """Formats of the export, without duplicates."""
        default = "litert" if self.quantize else "saved_model"
        names = (self.export_format or default).split(",")
        return tuple(dict.fromkeys(map(str.strip, names)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceConfig:
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
        return task["type"] == "chief"

    @property
    def is_tpu(self) -> bool:
        """Whether the model runs on a TPU, which needs fixed shapes."""
        return self.use_tpu or self.distribution_strategy == "tpu"


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """Flags of the optimizer and the learning rate schedule."""

    learning_rate: float = flags.training(
        5e-5, "Peak learning rate.", at_least=0
    )
    optimizer: str = flags.training(
        "adamw",
        "adamw is the optimizer of Google's code. lamb is for batches of "
        "thousands of examples.",
        choices=("adamw", "lamb"),
    )
    # At 1, Adam's moments would never change.
    adam_beta_1: float = flags.training(
        0.9, "Decay rate of the first moment.", at_least=0, at_most=0.999999
    )
    adam_beta_2: float = flags.training(
        0.999, "Decay rate of the second moment.", at_least=0, at_most=0.999999
    )
    bias_correction: bool = flags.training(
        False,
        "Correct the bias of Adam's moments, unlike Google's code. This helps "
        "short runs at high learning rates. LAMB always corrects the bias.",
    )
    weight_decay: float = flags.training(
        0.01,
        "Decoupled weight decay. Not applied to LayerNorm and biases.",
        at_least=0,
    )
    lr_schedule: str = flags.training(
        "original",
        "When the learning rate begins to decay: at step 0 (original, as in "
        "Google's code, so the rate drops right after the warmup), or after "
        "the warmup (continuous).",
        choices=("original", "continuous"),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig(ModelConfig, DeviceConfig, ExportConfig, OptimizerConfig):
    """Flags of every training run."""

    output_dir: str = flags.neutral(
        ...,
        "Folder for checkpoints, records and results.",
        kind=Kind.RUN_FOLDER,
    )
    do_train: bool = flags.neutral(False, "Train on the train set.")
    do_eval: bool = flags.neutral(False, "Evaluate on the dev set.")
    train_batch_size: int = flags.training(
        32, "Number of examples in a training batch.", at_least=1
    )
    gradient_accumulation_steps: int = flags.training(
        1, "Number of batches to accumulate per weight update.", at_least=1
    )
    gradient_checkpointing: bool = flags.training(
        False,
        "Recompute activations in the backward pass. Training then needs less "
        "memory, but about a third more time.",
    )
    trim_padding: bool = flags.training(
        False,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack several short inputs into one row for attention. Ignored on a "
        "TPU and with --jit_compile. Results differ only by rounding errors, "
        "but for SQuAD, where Google's softmax includes padding positions.",
    )
    clip_norm: float = flags.training(
        1.0,
        "Maximum global norm of the gradient. Larger ones are scaled down.",
        at_least=1e-6,
    )
    max_hours: float | None = flags.training(
        None,
        "Save and stop after this many hours of training, including the hours "
        "before the run was resumed.",
        at_least=1e-9,
        may_grow=True,
    )
    freeze_layers: int = flags.training(
        0,
        "Freeze the embeddings and this number of the lowest blocks. 0 trains "
        "all weights.",
        at_least=0,
    )
    left_to_right: bool = flags.identity(
        False,
        "Let each WordPiece attend only to itself and earlier ones, as in the "
        "paper's ablation LTR. The last WordPiece is pooled instead of [CLS].",
    )
    seed: int = flags.training(
        12345,
        "Seed of initialization, dropout and data order.",
        at_least=0,
        at_most=2**32 - 1,
    )
    deterministic: bool = flags.training(
        False, "Use only operations whose results can be repeated exactly."
    )
    save_checkpoints_steps: int = flags.neutral(
        1000, "Number of steps between checkpoints.", at_least=1
    )
    keep_checkpoint_max: int = flags.neutral(
        5, "Number of newest checkpoints to keep. 0 keeps all.", at_least=0
    )
    iterations_per_loop: int = flags.neutral(
        1000, "On a TPU, number of training steps per host call.", at_least=1
    )
    keep_optimizer: bool = flags.neutral(
        True,
        "Save the optimizer's slots at the end too, to train on later. "
        "Without them, the last checkpoint is a third as large. With "
        "--data_file, the default is false.",
    )
    summary_steps: int = flags.neutral(
        100,
        "Number of steps between TensorBoard entries. 0 disables TensorBoard.",
        at_least=0,
    )
    teacher: str | None = flags.training(
        None,
        "Folder of a larger model of the same task to learn from, such as a "
        "folder that --export_weights wrote.",
        kind=Kind.MODEL,
    )
    distill_temperature: float = flags.training(
        2.0,
        "Temperature that divides the logits of teacher and student.",
        at_least=0.01,
    )
    distill_alpha: float = flags.training(
        0.5,
        "Weight alpha of the teacher's loss. The labels' loss is weighted by "
        "1 - alpha.",
        at_least=0,
        at_most=1,
    )
    distill_hidden: bool = flags.training(
        False, "Learn the output of the teacher's last block too."
    )
    init_layers: Sequence[str] | None = flags.training(
        None,
        "Blocks of --init_checkpoint, or else of --teacher, that initialize "
        "the model's blocks, such as 0,2,5 for a model of 3 blocks.",
    )
    export_weights: str | None = flags.neutral(
        None,
        "Write the weights without the optimizer's slots (a third of the size) "
        "to a folder laid out like Google's releases.",
        kind=Kind.NEW_FOLDER,
    )
    # Not a flag: the steps in a row without a finite loss that end a training.
    max_nonfinite_steps: int = 10
    # Not flags here, but in fine-tuning.
    bilstm: bool = False
    load_best: bool = True

    # A command must set at least one of these flags.
    actions: ClassVar[tuple[str, ...]] = (
        "do_train",
        "do_eval",
        "export_dir",
        "export_weights",
    )

    def check(self) -> None:
        """Raises a ValueError if flags contradict each other."""
        if not any(vars(self)[action] for action in self.actions):
            names = " or ".join(f"--{action}" for action in self.actions)
            raise ValueError(f"nothing to do: set {names}")
        has_lstm = self.export_dir and self.bilstm
        if has_lstm and "litert" in self.export_formats:
            raise ValueError(
                f"--export_format={self.export_format}: LiteRT cannot run the "
                "LSTM of --bilstm; choose onnx or saved_model"
            )
        for name in ("distill_temperature", "distill_alpha", "distill_hidden"):
            if name in self.given_flags and not self.teacher:
                raise ValueError(f"--{name} needs --teacher")
        if self.init_layers is not None and not self.initial_checkpoint:
            raise ValueError(
                "--init_layers needs --init_checkpoint or --teacher"
            )

    @property
    def keeps_best(self) -> bool:
        """Whether training runs evaluations and saves the best step."""
        return False

    @property
    def initial_checkpoint(self) -> str | None:
        """The checkpoint that a new run starts from. None: random weights."""
        is_teacher = self.init_layers is not None
        return self.init_checkpoint or (self.teacher if is_teacher else None)

    @property
    def network(self) -> dict[str, bool]:
        """{flag: value} of the flags in `presets.NETWORK`.

        These flags are also arguments of the model's constructor.
        """
        return {"left_to_right": self.left_to_right, "bilstm": self.bilstm}

    @property
    def batch_size(self) -> int:
        """Number of examples in each weight update, over all devices."""
        return self.train_batch_size * self.gradient_accumulation_steps

    @property
    def unpads(self) -> bool:
        """Whether --trim_padding is set and the devices allow any shape."""
        return self.trim_padding and not (self.is_tpu or self.jit_compile)

    @property
    def steps_per_call(self) -> int:
        """Number of steps that one call of the training function runs."""
        return self.iterations_per_loop if self.is_tpu else 1
