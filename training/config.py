"""Configuration of training: each field is a flag, with default and help.

`files/flags.py` defines the flags of a class and returns the parsed object. A
variation is a `dataclasses.replace`. Nothing here imports TensorFlow.
"""

import dataclasses
import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from data.pretraining.options import MaskingOptions
from files import flags, json_files
from files.paths import Kind
from training import model_checks, model_folder
from training.batch_sizes import BatchSizes
from training.run_folder import AVERAGES, BEST, checkpoint_steps

# {value of --mixed_precision: Keras's dtype policy}.
PRECISIONS = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}
# At 1.0 gradients would never change the average.
_LARGEST_BETA = 0.999999
# Modules that each format of an export needs.
_EXPORT_MODULES = {
    "saved_model": (),
    "litert": (),
    "onnx": ("onnx",),
    # Converted from ONNX.
    "openvino": ("onnx", "openvino"),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class TextConfig:
    """How text is cut into WordPieces."""

    vocab_file: str = flags.identity(
        None,
        "The vocabulary the model was trained on; by default the one in the "
        "folder of the weights.",
        kind=Kind.INPUT_FILE,
    )
    do_lower_case: bool = flags.identity(
        True,
        "Lower-case the text: True for uncased models, False for cased ones. "
        "A tokenizer_config.json beside the model or the vocabulary decides "
        "where the flag is not given.",
    )
    segmenter: str | None = flags.identity(
        None,
        "module:function that splits a text into words before they are cut "
        "into WordPieces, for scripts without spaces between words. It is "
        "code, so a model's folder names it but does not import it: set the "
        "flag in every command.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """The folder and the format of an export."""

    export_dir: str | None = flags.neutral(
        None,
        "Write a SavedModel for serving to this folder.",
        kind=Kind.EXPORT_FOLDER,
    )
    export_format: str = flags.neutral(
        "saved_model",
        "What --export_dir holds: saved_model, litert, onnx or openvino, or "
        "several of them, separated by commas. All but saved_model take token "
        "ids; the tokenizer files are saved beside the model.",
    )
    export_seq_length: int | None = flags.neutral(
        None,
        "Input length in formats other than saved_model; by default any.",
        at_least=1,
    )
    export_version: int | None = flags.neutral(
        None,
        "Write to the subfolder of this number in --export_dir, where "
        "TensorFlow Serving looks for versions.",
        at_least=1,
    )
    quantize: str | None = flags.neutral(
        None,
        "Write LiteRT, the default then, and ONNX in int8; a SavedModel "
        "beside them keeps its precision.",
        choices=("int8",),
    )

    def __post_init__(self) -> None:
        """Checks the flags; adds the version to the folder."""
        # An empty path, from an unset shell variable, gets its own error.
        if self.export_version is not None and self.export_dir != "":
            if self.export_dir is None:
                raise ValueError(
                    f"--export_version={self.export_version} needs "
                    "--export_dir, the folder of all versions"
                )
            folder = os.path.join(self.export_dir, str(self.export_version))
            object.__setattr__(self, "export_dir", folder)
            object.__setattr__(self, "export_version", None)
        if self.export_format != "saved_model" and self.export_dir is None:
            raise ValueError(
                f"--export_format={self.export_format} needs --export_dir, the "
                "folder to write"
            )
        if self.quantize:
            self._choose_int8_format()
        self._check_format()

    @property
    def export_formats(self) -> tuple[str, ...]:
        """The formats of the export, each once."""
        names = map(str.strip, self.export_format.split(","))
        return tuple(dict.fromkeys(names))

    def _choose_int8_format(self) -> None:
        flag = f"--quantize={self.quantize}"
        if self.export_dir is None:
            raise ValueError(f"{flag} needs --export_dir, the folder to write")
        if self.export_format == "saved_model":
            if "export_format" in getattr(self, "given_flags", ()):
                raise ValueError(
                    f"{flag} is for LiteRT and ONNX, not for "
                    "--export_format=saved_model; set litert or onnx"
                )
            object.__setattr__(self, "export_format", "litert")

    def _check_format(self) -> None:
        names = self.export_formats
        for name in names:
            if name not in _EXPORT_MODULES:
                raise ValueError(
                    f"--export_format={self.export_format}: {name!r} is none "
                    f"of {', '.join(_EXPORT_MODULES)}"
                )
            needed = _EXPORT_MODULES[name]
            if name == "onnx" and self.quantize:
                # The quantizer is ONNX Runtime's.
                needed = (*needed, "onnxruntime")
            missing = [m for m in needed if not importlib.util.find_spec(m)]
            if missing:
                raise ValueError(
                    f"--export_format={name} needs {' and '.join(missing)}: "
                    f"pip install -r requirements/{name}.txt"
                )
        if self.export_seq_length and names == ("saved_model",):
            raise ValueError(
                "--export_seq_length is for the other formats; a SavedModel "
                "takes inputs of any length"
            )
        if self.quantize and "openvino" in names:
            raise ValueError(
                "--quantize is not for --export_format=openvino; export "
                "without it, and quantize with OpenVINO's own tools"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceConfig(ExportConfig):
    """Devices and precision."""

    distribution_strategy: str | None = flags.neutral(
        None,
        "Distribution strategy; by default chosen from TF_CONFIG and the "
        "available devices.",
        choices=("one_device", "mirrored", "multi_worker", "tpu"),
    )
    mixed_precision: str = flags.training(
        "float32",
        "Precision of the computation; variables stay float32.",
        choices=tuple(PRECISIONS),
    )
    jit_compile: bool = flags.training(
        False,
        "Compile the network with XLA, for GPUs and TPUs; slower on a CPU.",
    )
    use_tpu: bool = flags.neutral(False, "Run on a TPU.")
    tpu_name: str | None = flags.neutral(
        None, "Name or grpc address of the TPU."
    )
    tpu_zone: str | None = flags.neutral(None, "Zone of the TPU.")
    gcp_project: str | None = flags.neutral(None, "Project of the TPU.")
    master: str | None = flags.neutral(
        None, "Address of the TPU, if --tpu_name is not given."
    )
    num_tpu_cores: int = flags.neutral(
        8, "Expected number of TPU cores; a warning is logged if it differs."
    )

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's files.

        Of several workers, which TF_CONFIG lists, one does: the chief, or
        without one the first worker.

        Raises:
            ValueError: TF_CONFIG is malformed.
        """
        is_worker = "TF_CONFIG" in os.environ and not self.use_tpu
        if not is_worker or self.distribution_strategy not in (
            None,
            "multi_worker",
        ):
            return True
        config = json_files.parse_json(os.environ["TF_CONFIG"], "TF_CONFIG")
        task, cluster = config.get("task") or {}, config.get("cluster") or {}
        if not isinstance(task, dict) or not isinstance(cluster, dict):
            raise ValueError(
                'TF_CONFIG: "task" and "cluster" must be JSON objects'
            )
        index = task.get("index", 0)
        if not str(index).isdecimal():
            raise ValueError(
                'TF_CONFIG: "index" of "task" must be a number. Received: '
                f"{index}"
            )
        if task.get("type", "chief") == "worker":
            return "chief" not in cluster and int(index) == 0
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
    """The model that a script reads, and where it runs."""

    bert_config_file: str = flags.identity(
        None,
        "JSON file of the model's architecture; a Hugging Face config.json "
        "is read as well. By default the one in the folder of the weights.",
        kind=Kind.MODEL,
    )
    init_checkpoint: str | None = flags.training(
        None,
        "Checkpoint to start from: a folder with weights, the prefix of a TF1 "
        "checkpoint (bert_model.ckpt), a .safetensors file or a "
        "pytorch_model.bin. Its folder tells the network, the vocabulary and "
        "the casing.",
        kind=Kind.MODEL,
    )
    given_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
    )

    # Class of the model; where nothing is trained, models of other classes
    # are refused. None to take any.
    head: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        """Takes what no flag tells from the folder of the weights."""
        model_folder.complete(self)
        super().__post_init__()

    @property
    def weights(self) -> str | None:
        """The model to use: a checkpoint, a folder with one, or None."""
        return self.init_checkpoint

    @property
    def needed(self) -> tuple[str, ...]:
        """Flags that a model's folder may tell, and something must."""
        return ("bert_config_file",)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """The optimizer, and its learning rate while training."""

    learning_rate: float = flags.training(
        5e-5, "Peak learning rate.", at_least=0
    )
    optimizer: str = flags.training(
        "adamw",
        "adamw is the original's; lamb is for batches of thousands.",
        choices=("adamw", "lamb"),
    )
    adam_beta_1: float = flags.training(
        0.9,
        "Decay rate of the first moment.",
        at_least=0.0,
        at_most=_LARGEST_BETA,
    )
    adam_beta_2: float = flags.training(
        0.999,
        "Decay rate of the second moment.",
        at_least=0.0,
        at_most=_LARGEST_BETA,
    )
    bias_correction: bool = flags.training(
        False,
        "Correct the bias of Adam's moments, which Google's code leaves in; "
        "LAMB always does. It helps short trainings at high rates.",
    )
    weight_decay: float = flags.training(
        0.01,
        "Decoupled weight decay; not applied to LayerNorm and biases.",
        at_least=0.0,
        at_most=1000.0,
    )
    lr_schedule: str = flags.training(
        "original",
        "original drops below its peak after the warmup, continuous does not; "
        "time falls to 0 at --max_hours, however many steps that takes.",
        choices=("original", "continuous", "time"),
    )
    poly_power: float = flags.training(
        1.0, "Exponent of the learning rate's decay; 1 is linear.", at_least=0
    )
    layerwise_lr_decay: float = flags.training(
        1.0,
        "Multiply the learning rate by this for each block further down.",
        at_least=0.0,
        at_most=1.0,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationConfig:
    """The teacher, and how the student learns from it."""

    teacher: str | None = flags.training(
        None,
        "Folder of a larger model of the same task to learn from: a "
        "checkpoint of either format and its configuration, as "
        "--export_weights writes.",
        kind=Kind.MODEL,
    )
    distill_temperature: float = flags.training(
        2.0,
        "Divides the logits of teacher and student; higher values reveal more "
        "about the other classes.",
        at_least=0.01,
    )
    distill_alpha: float = flags.training(
        0.5,
        "Weight of the teacher's loss; the labels' loss gets 1 - alpha.",
        at_least=0.0,
        at_most=1.0,
    )
    distill_layers: bool = flags.training(
        False,
        "Learn the teacher's hidden states and attention too (TinyBERT); the "
        "teacher then runs in every step.",
    )
    init_layers: Sequence[str] | None = flags.training(
        None,
        "Block of --init_checkpoint, or else of --teacher, that each block of "
        "the model starts from: 0,2,5 for 3 blocks of 6.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig(ModelConfig, OptimizerConfig, DistillationConfig):
    """What every training run has.

    `given_flags` and `all_flags` are {name: value} of the command line's flags
    and of all flags of the script, for summary.json.
    """

    output_dir: str = flags.neutral(
        ...,
        "Folder for checkpoints, records and results.",
        kind=Kind.RUN_FOLDER,
    )
    do_train: bool = flags.neutral(False, "Train on the train set.")
    do_eval: bool = flags.neutral(False, "Evaluate on the dev set.")
    train_batch_size: int = flags.training(
        32, "Examples in a training batch.", at_least=1
    )
    gradient_accumulation_steps: int = flags.training(
        1,
        "Number of batches to accumulate per weight update.",
        at_least=1,
        at_most=2**31 - 1,
    )
    gradient_checkpointing: bool = flags.training(
        False,
        "Recompute activations in the backward pass: less memory, about a "
        "third more time.",
    )
    trim_padding: bool = flags.training(
        False,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack short inputs for attention. Ignored on a TPU and with "
        "--jit_compile. Results change only by rounding, except in SQuAD, "
        "where the original lets padding compete with the answer, in the loss "
        "and among the n best.",
    )
    clip_norm: float = flags.training(
        1.0,
        "Maximum global norm of the gradient; larger gradients are scaled "
        "down to it.",
        at_least=1e-6,
        at_most=1e6,
    )
    ema_decay: float = flags.training(
        0.0,
        "Decay of the exponential moving average of the weights; the averages "
        "are evaluated, used to predict and exported. 0 = off.",
        at_least=0.0,
        at_most=_LARGEST_BETA,
    )
    max_hours: float | None = flags.training(
        None,
        "Save and stop after this many hours, including time before a resume; "
        "by default only --num_train_steps or --num_train_epochs end training.",
        at_least=1e-9,
        at_most=1e6,
        may_grow=True,
    )
    freeze_layers: int = flags.training(
        0,
        "Freeze the embeddings and this many of the lowest blocks; 0 trains "
        "everything.",
        at_least=0,
    )
    left_to_right: bool = flags.identity(
        False,
        "Let each WordPiece attend only to itself and those before it, as in "
        "the paper's ablation LTR. The last WordPiece is pooled, not [CLS].",
    )
    seed: int = flags.training(
        12345,
        "Seed of initialization, dropout and data order.",
        at_least=0,
        at_most=2**32 - 1,
    )
    deterministic: bool = flags.training(
        False, "Use only deterministic operations."
    )
    init_from: str | None = flags.neutral(
        None,
        "Start a new run from random weights or from --init_checkpoint (the "
        "default if given). Checkpoints in --output_dir take precedence.",
        choices=("scratch", "checkpoint"),
    )
    max_nonfinite_steps: int = flags.neutral(
        10,
        "Stop after this many consecutive steps with a non-finite loss or "
        "gradient; such steps are skipped.",
        at_least=1,
    )
    save_checkpoints_steps: int = flags.neutral(
        1000, "Steps between checkpoints.", at_least=1
    )
    keep_checkpoint_max: int = flags.neutral(
        5, "Number of newest checkpoints to keep; 0 keeps all.", at_least=0
    )
    iterations_per_loop: int = flags.neutral(
        1000, "On a TPU, number of training steps per host call.", at_least=1
    )
    summary_steps: int = flags.neutral(
        100, "Steps between TensorBoard entries; 0 disables them.", at_least=0
    )
    export_weights: str | None = flags.neutral(
        None,
        "Write the weights without the optimizer's slots, a third of the "
        "size, to a folder laid out like the original's releases. A path that "
        "ends in .ckpt names the checkpoint in that folder.",
        kind=Kind.MODEL_OUTPUT,
    )
    allow_changed_settings: bool = flags.neutral(
        False,
        "Resume a run whose training flags have changed; model.json records "
        "the change.",
    )
    all_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
    )

    # A command without any of them is refused.
    actions: ClassVar[tuple[str, ...]] = (
        "do_train",
        "do_eval",
        "export_dir",
        "export_weights",
    )

    def __post_init__(self) -> None:
        """Checks the flags against each other, and against the run's."""
        super().__post_init__()
        if self.do_train:
            model_checks.check_same(self, {}, are_all=False)
        if self.lr_schedule == "time" and self.max_hours is None:
            raise ValueError("--lr_schedule=time needs --max_hours, its length")
        if self.init_from is not None and bool(self.init_checkpoint) != (
            self.init_from == "checkpoint"
        ):
            raise ValueError(
                f"--init_from={self.init_from} contradicts --init_checkpoint="
                f"{self.init_checkpoint}"
            )
        self._check_distillation()

    def _check_distillation(self) -> None:
        for name in ("distill_temperature", "distill_alpha", "distill_layers"):
            if name in self.given_flags and not self.teacher:
                raise ValueError(f"--{name} needs --teacher")
        if self.teacher and not (self.distill_alpha or self.distill_layers):
            raise ValueError(
                "--teacher with --distill_alpha=0 teaches nothing; give more, "
                "or --distill_layers"
            )
        if self.init_layers is None:
            return
        given = f"--init_layers={','.join(self.init_layers)}"
        if not all(layer.strip().isdecimal() for layer in self.init_layers):
            raise ValueError(
                f"{given} must be numbers of blocks from 0 on, such as 0,2,5"
            )
        if not self.initial_checkpoint:
            raise ValueError(f"{given} needs --init_checkpoint or --teacher")

    def check_actions(self) -> None:
        """Refuses a command that would do nothing.

        Raises:
            ValueError: no action is set.
        """
        if not any(getattr(self, action) for action in self.actions):
            names = " or ".join(f"--{action}" for action in self.actions)
            raise ValueError(f"nothing to do: give {names}")

    def varied(self, **changes: Any) -> Self:
        """Returns a changed copy, `given_flags` and `all_flags` too."""
        flags, all_flags = (
            {name: changes.get(name, value) for name, value in values.items()}
            for values in (self.given_flags, self.all_flags)
        )
        return dataclasses.replace(
            self, given_flags=flags, all_flags=all_flags, **changes
        )

    @property
    def weights(self) -> str | None:
        """See ModelConfig; a run that has begun comes first."""
        if self.has_checkpoint:
            return self.output_dir
        return self.initial_checkpoint

    @property
    def has_checkpoint(self) -> bool:
        """Whether the run's folder has a checkpoint to resume from."""
        return bool(checkpoint_steps(self.output_dir))

    @property
    def prefers_best(self) -> bool:
        """Whether to restore the best step, if there is one, not the newest."""
        return False

    @property
    def best_dir(self) -> Path:
        """Folder of the weights of the best step."""
        return Path(self.output_dir) / BEST

    @property
    def averages_dir(self) -> Path:
        """Folder of the averages of the weights."""
        return Path(self.output_dir) / AVERAGES

    @property
    def keeps_best(self) -> bool:
        """Whether training evaluates, and keeps the best step."""
        return False

    @property
    def weight_folders(self) -> list[Path]:
        """Folders that training puts weights into."""
        return [
            Path(self.output_dir),
            *([self.averages_dir] if self.ema_decay else []),
            *([self.best_dir] if self.keeps_best else []),
        ]

    @property
    def initial_checkpoint(self) -> str | None:
        """The checkpoint that a new run starts from, or None."""
        return self.init_checkpoint or (
            self.teacher if self.init_layers is not None else None
        )

    @property
    def initial_layers(self) -> list[int] | None:
        """--init_layers as numbers, or None."""
        if self.init_layers is None:
            return None
        return [int(layer) for layer in self.init_layers]

    @property
    def network(self) -> dict[str, bool]:
        """{option: whether it is set}, arguments of every model."""
        return {
            name: getattr(self, name, False) for name in model_folder.NETWORK
        }

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """Flags to compare runs by: numbers, choices and initial weights."""
        choices = ("init_checkpoint", "lr_schedule", "optimizer", "task_name")
        return {
            name: value
            for name, value in self.all_flags.items()
            if isinstance(value, (bool, int, float))
            or (name in choices and value is not None)
        }

    @property
    def batch_size(self) -> int:
        """Examples in one update, over all devices."""
        return self.train_batch_size * self.gradient_accumulation_steps

    @property
    def batch_sizes(self) -> BatchSizes:
        """Examples in each update, over all devices."""
        return BatchSizes(self.batch_size)

    @property
    def unpads(self) -> bool:
        """Whether padding is skipped."""
        return self.trim_padding and not self.has_fixed_shapes

    @property
    def steps_per_call(self) -> int:
        """Steps between returns to the host."""
        return self.iterations_per_loop if self.is_tpu else 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class PretrainingConfig(TrainingConfig, MaskingOptions):
    """Pretraining: records, length and evaluation."""

    input_file: str = flags.training(
        ...,
        "TFRecord files: comma-separated paths or globs.",
        kind=Kind.INPUT_FILES,
    )
    output_dir: str = flags.like(
        TrainingConfig, "output_dir", help="Folder for checkpoints and results."
    )
    max_seq_length: int = flags.head(
        128, "Length of the records' sequences, in WordPieces.", at_least=1
    )
    max_predictions_per_seq: int = flags.head(
        20, "Masked positions in a record.", at_least=1
    )
    vocab_file: str | None = flags.identity(
        None,
        "The records' vocabulary; needed for records without masks, for an "
        "export that takes text, and for text in TensorBoard.",
        kind=Kind.INPUT_FILE,
    )
    do_lower_case: bool = flags.identity(
        True,
        "Whether the export lower-cases text; give the value that the records "
        "were made with.",
    )
    masked_lm_prob: float = flags.like(
        MaskingOptions,
        "masked_lm_prob",
        help="Fraction of WordPieces to mask, in records without masks.",
    )
    do_whole_word_mask: bool = flags.like(
        MaskingOptions,
        "do_whole_word_mask",
        help="Mask all WordPieces of a word or none, in records without masks.",
    )
    whole_word_draw: bool = flags.like(
        MaskingOptions,
        "whole_word_draw",
        help="Decide once for each word, not for each WordPiece, whether it "
        "becomes [MASK], stays as it is, or becomes a random word, in records "
        "without masks.",
    )
    mask_token_prob: float = flags.like(
        MaskingOptions,
        "mask_token_prob",
        help="Fraction of the WordPieces to predict that become [MASK], in "
        "records without masks.",
    )
    next_sentence: bool = flags.head(
        True,
        "Also train on next sentence prediction; without it, the paper's "
        "ablation No NSP.",
    )
    do_train: bool = flags.like(
        TrainingConfig, "do_train", help="Train on --input_file."
    )
    num_train_steps: int = flags.training(
        100000, "Steps of training.", at_least=1, may_grow=True
    )
    num_warmup_steps: int = flags.training(
        10000, "Steps of warmup.", at_least=0
    )
    batch_size_warmup: str | None = flags.training(
        None,
        "Start with smaller batches: SIZE:STEP,SIZE:STEP, such as "
        "32:10000,64:20000 for 32 examples until step 10000, 64 until step "
        "20000, then --train_batch_size.",
    )
    do_eval: bool = flags.like(
        TrainingConfig,
        "do_eval",
        help="Evaluate on --eval_input_file, or without it on --input_file.",
    )
    eval_input_file: str | None = flags.decoding(
        None,
        "TFRecord files held out from training, evaluated while training "
        "every --eval_steps and by --do_eval; without them --do_eval uses "
        "--input_file, as in the original.",
        kind=Kind.INPUT_FILES,
    )
    eval_steps: int = flags.training(
        1000, "Steps between evaluations on --eval_input_file.", at_least=1
    )
    target_accuracy: float | None = flags.neutral(
        None,
        "Log the step and time at which the masked LM accuracy on "
        "--eval_input_file first reaches this; also in summary.json.",
        at_least=0.0,
        at_most=1.0,
    )
    eval_batch_size: int = flags.decoding(
        8, "Examples in an eval batch.", at_least=1
    )
    max_eval_steps: int = flags.decoding(
        100, "Maximum number of batches to evaluate.", at_least=1
    )

    def __post_init__(self) -> None:
        """Checks the flags against each other."""
        super().__post_init__()
        if self.batch_sizes.warmup and self.is_tpu:
            raise ValueError(
                "--batch_size_warmup cannot run on a TPU, which needs one shape"
            )
        if self.max_predictions_per_seq > self.max_seq_length:
            raise ValueError(
                f"--max_predictions_per_seq={self.max_predictions_per_seq} is "
                f"more than --max_seq_length={self.max_seq_length}; give both "
                "as the records were made"
            )
        if self.target_accuracy is not None and not self.eval_input_file:
            raise ValueError(
                f"--target_accuracy={self.target_accuracy} needs "
                "--eval_input_file, the records on which it is to be reached"
            )

    @property
    def keeps_best(self) -> bool:
        """See TrainingConfig."""
        return self.do_train and self.eval_input_file is not None

    @property
    def batch_sizes(self) -> BatchSizes:
        """See TrainingConfig; raises a ValueError if malformed."""
        sizes = BatchSizes.parse(self.batch_size_warmup, self.train_batch_size)
        return sizes.times(self.gradient_accumulation_steps)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FineTuningConfig(TrainingConfig, TextConfig):
    """Fine-tuning: length, actions and stopping."""

    max_seq_length: int = flags.head(
        128,
        "Longest input in WordPieces; longer ones are cut, shorter padded.",
        at_least=3,
    )
    trim_padding: bool = flags.like(TrainingConfig, "trim_padding", True)
    do_predict: bool = flags.neutral(False, "Predict the test set.")
    eval_batch_size: int = flags.neutral(
        8, "Examples in an eval batch.", at_least=1
    )
    predict_batch_size: int = flags.neutral(
        8, "Examples in a test batch.", at_least=1
    )
    num_train_epochs: float = flags.training(
        3.0, "Epochs of training.", at_least=0.0, at_most=1e9, may_grow=True
    )
    warmup_proportion: float = flags.training(
        0.1,
        "Fraction of the steps used for warmup, 0.1 = 10%.",
        at_least=0.0,
        at_most=1.0,
    )
    num_train_runs: int = flags.training(
        1,
        "Train this many times with different seeds, in the folders run_1, "
        "run_2 ... of --output_dir; report mean and deviation, and keep the "
        "best run on the dev set in --output_dir.",
        at_least=1,
        may_grow=True,
    )
    evaluate_each_epoch: bool = flags.training(
        False,
        "Evaluate after each epoch of training, and keep the best weights in "
        "the folder `best` of --output_dir.",
    )
    early_stopping_patience: int = flags.training(
        0,
        "Evaluate after each epoch, and stop after this many evaluations "
        "without improvement; 0 disables it.",
        at_least=0,
    )
    metric_for_best: str | None = flags.training(
        None,
        "Metric that chooses the best step and the best run; by default "
        "the task's main metric. eval_loss is lower-is-better.",
    )
    load_best: bool = flags.decoding(
        True,
        "Evaluate, predict and export with the best step, if training "
        "evaluated any; with --noload_best use the last step.",
    )
    ensemble: str | None = flags.decoding(
        None,
        "Evaluate and predict with several trained models at once: the "
        "--output_dir of each, comma-separated. Their probabilities are "
        "averaged.",
        kind=Kind.MODELS,
    )
    bilstm: bool = flags.identity(
        False,
        "Put a bidirectional LSTM with new weights between the network and "
        "the task's head, as the paper does for left-to-right models.",
    )
    max_export_loss: float = flags.neutral(
        0.5,
        "How much worse than the model its export may score on the dev set, "
        "in hundredths of the task's first metric. A worse export replaces "
        "nothing and is kept as NAME.rejected.",
        at_least=0.0,
    )

    actions = (*TrainingConfig.actions, "do_predict")

    @property
    def weights(self) -> str | None:
        """See TrainingConfig; of an ensemble the first model."""
        if self.ensemble is not None:
            return self.ensemble.split(",")[0]
        return super().weights

    @property
    def needed(self) -> tuple[str, ...]:
        """See ModelConfig."""
        return (*super().needed, "vocab_file")

    def __post_init__(self) -> None:
        """Checks the flags against each other."""
        super().__post_init__()
        if self.seed + self.num_train_runs > 2**32 and self.do_train:
            raise ValueError(
                f"--seed={self.seed} is too large for --num_train_runs="
                f"{self.num_train_runs}: the last run's seed, --seed + "
                "--num_train_runs - 1, must be below 2**32"
            )
        if (
            self.metric_for_best
            and self.do_train
            and not self.keeps_best
            and self.num_train_runs == 1
        ):
            raise ValueError(
                "--metric_for_best needs --evaluate_each_epoch, "
                "--early_stopping_patience or --num_train_runs"
            )
        if self.ensemble is not None:
            self._check_ensemble()

    def _check_ensemble(self) -> None:
        for name in ("do_train", "export_dir", "export_weights"):
            if getattr(self, name):
                raise ValueError(
                    "--ensemble evaluates and predicts with models that are "
                    f"trained already; leave out --{name}"
                )

    @property
    def prefers_best(self) -> bool:
        """See TrainingConfig."""
        return self.load_best and not self.do_train

    @property
    def keeps_best(self) -> bool:
        """See TrainingConfig."""
        return self.do_train and (
            self.evaluate_each_epoch or self.early_stopping_patience > 0
        )

    @property
    def evaluates(self) -> bool:
        """Whether the model is evaluated at any time."""
        return (
            self.do_eval
            or self.keeps_best
            or (self.do_train and self.num_train_runs > 1)
        )

    def num_steps(self, num_examples: int) -> tuple[int, int]:
        """Returns the steps of training and of its warmup, rounded down.

        Args:
            num_examples: examples in an epoch.

        Raises:
            ValueError: there is not even one step.
        """
        steps = int(num_examples / self.batch_size * self.num_train_epochs)
        if not steps:
            raise ValueError(
                f"--num_train_epochs={self.num_train_epochs} of {num_examples} "
                f"examples make no whole step of {self.batch_size} examples; "
                "give a smaller --train_batch_size or more epochs"
            )
        return steps, int(steps * self.warmup_proportion)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataFolderConfig(FineTuningConfig):
    """Fine-tuning on a folder that holds a task's files."""

    data_dir: str = flags.training(
        None,
        "Folder of the task's files; only an export needs none.",
        kind=Kind.DATA_FOLDER,
    )

    @property
    def needed(self) -> tuple[str, ...]:
        """See ModelConfig."""
        reads = self.do_train or self.evaluates or self.do_predict
        return (*super().needed, *(["data_dir"] if reads else []))
