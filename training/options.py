"""Options of training: the flags' values, frozen.

`training/command_line/flags.py` defines the flags, with the defaults given
here, and reads them once into one of these. A variation is a
`dataclasses.replace`.
Nothing here imports TensorFlow.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from data.pretraining.options import MaskingOptions
from training.batch_sizes import BatchSizes

# Flags that change the network, that are not stored in bert_config.json.
NETWORK = ("left_to_right", "bilstm")

STRATEGIES = ("one_device", "mirrored", "multi_worker", "tpu")
PRECISIONS = ("float32", "bfloat16", "float16")
OPTIMIZERS = ("adamw", "lamb")
SCHEDULES = ("original", "continuous", "time")
QUANTIZATIONS = ("int8",)
EXPORT_FORMATS = ("saved_model", "litert", "onnx", "openvino")
QUANTIZE_RANGES = ("dynamic", "static")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Format of an export.

    Attributes:
        export_format: one of EXPORT_FORMATS.
        export_seq_length: length of the inputs; None = any.
        quantize: "int8" where the converter of the format makes the weights
            int8; None = it does not.
        do_lower_case: whether the tokenizer lower-cases text.
    """

    export_format: str = "saved_model"
    export_seq_length: int | None = None
    quantize: str | None = None
    do_lower_case: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceOptions(ExportOptions):
    """Devices, precision, quantization and export format."""

    distribution_strategy: str | None = None
    mixed_precision: str = "float32"
    jit_compile: bool = False
    use_tpu: bool = False
    tpu_name: str | None = None
    tpu_zone: str | None = None
    gcp_project: str | None = None
    master: str | None = None
    num_tpu_cores: int = 8
    quantize_ranges: str = "dynamic"

    @property
    def quantizes(self) -> bool:
        """Whether the model itself is quantized, not just an exported file."""
        return bool(self.quantize) and self.export_format == "saved_model"

    @property
    def is_tpu(self) -> bool:
        """Whether the model runs on a TPU, which needs fixed shapes."""
        return self.use_tpu or self.distribution_strategy == "tpu"

    @property
    def changes_weights(self) -> bool:
        """Whether weights change while the command runs."""
        return False

    @property
    def scores_or_predicts(self) -> bool:
        """Whether the command evaluates or predicts."""
        return False

    @property
    def has_fixed_shapes(self) -> bool:
        """Whether each new batch shape would recompile the model."""
        return self.is_tpu or self.jit_compile


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """The optimizer, and its learning rate while training.

    Attributes:
        learning_rate: peak learning rate.
        optimizer: "adamw" (the original's) or "lamb".
        adam_beta_1: `beta_1` of adamw.AdamWeightDecayOptimizer.
        adam_beta_2: its `beta_2`.
        weight_decay: its `weight_decay_rate`.
        lr_schedule: "original" (with its jump), "continuous" or "time".
        poly_power: exponent of the learning rate's decay.
    """

    learning_rate: float = 5e-5
    optimizer: str = "adamw"
    adam_beta_1: float = 0.9
    adam_beta_2: float = 0.999
    weight_decay: float = 0.01
    lr_schedule: str = "original"
    poly_power: float = 1.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """Options for saving, stopping and returning to Python.

    Attributes:
        save_checkpoints_steps: steps between two checkpoints.
        steps_per_call: maximum steps without returning to Python; fewer if
            a save or a hook is due.
        max_nonfinite_steps: stop after this many consecutive steps with a
            non-finite loss or gradient. A gradient that overflows only
            because of float16's loss scaling is not counted.
        time_spent: () -> fraction of the training time spent; at 1.0
            training saves and stops.
    """

    save_checkpoints_steps: int = 1000
    steps_per_call: int = 1
    max_nonfinite_steps: int = 10
    time_spent: Callable[[], float] = lambda: 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingOptions(DeviceOptions, OptimizerOptions):
    """Options of every training run.

    `given_flags` and `all_flags` are {name: value} of the command line's flags
    and of all flags of the script, for summary.json.
    """

    bert_config_file: str
    vocab_file: str | None = None
    init_checkpoint: str | None = None
    init_from: str | None = None
    output_dir: str
    do_train: bool = False
    do_eval: bool = False
    train_batch_size: int = 32
    gradient_accumulation_steps: int = 1
    gradient_checkpointing: bool = False
    trim_padding: bool = False
    clip_norm: float = 1.0
    ema_decay: float = 0.0
    max_hours: float | None = None
    layerwise_lr_decay: float = 1.0
    freeze_layers: int = 0
    seed: int = 12345
    deterministic: bool = False
    max_nonfinite_steps: int = 10
    save_checkpoints_steps: int = 1000
    keep_checkpoint_max: int = 5
    iterations_per_loop: int = 1000
    summary_steps: int = 100
    teacher: str | None = None
    distill_temperature: float = 2.0
    distill_alpha: float = 0.5
    distill_layers: bool = False
    init_layers: Sequence[str] | None = None
    export_weights: str | None = None
    export_dir: str | None = None
    given_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
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

    def varied(self, **changes: Any) -> Self:
        """Returns changed options, `given_flags` and `all_flags` too."""
        flags, all_flags = (
            {name: changes.get(name, value) for name, value in values.items()}
            for values in (self.given_flags, self.all_flags)
        )
        return dataclasses.replace(
            self, given_flags=flags, all_flags=all_flags, **changes
        )

    @property
    def changes_weights(self) -> bool:
        """Whether weights change while the command runs."""
        return self.do_train

    @property
    def scores_or_predicts(self) -> bool:
        """Whether the command evaluates or predicts."""
        return self.do_eval

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
class PretrainingOptions(TrainingOptions, MaskingOptions):
    """Options of pretraining: records and length.

    Those of MaskingOptions apply to records without masks.
    """

    input_file: str
    eval_input_file: str | None = None
    max_seq_length: int = 128
    max_predictions_per_seq: int = 20
    next_sentence: bool = True
    left_to_right: bool = False
    num_train_steps: int = 100000
    num_warmup_steps: int = 10000
    batch_size_warmup: str | None = None
    eval_steps: int = 1000
    eval_batch_size: int = 8
    max_eval_steps: int = 100
    target_accuracy: float | None = None

    @property
    def batch_sizes(self) -> BatchSizes:
        """See TrainingOptions; raises a ValueError if malformed."""
        sizes = BatchSizes.parse(self.batch_size_warmup, self.train_batch_size)
        return sizes.times(self.gradient_accumulation_steps)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FineTuningOptions(TrainingOptions):
    """Options of fine-tuning: length, actions and stopping."""

    vocab_file: str = dataclasses.field()
    # SQuAD has files instead.
    data_dir: str = ""
    max_seq_length: int = 128
    trim_padding: bool = True
    do_predict: bool = False
    eval_batch_size: int = 8
    predict_batch_size: int = 8
    num_train_epochs: float = 3.0
    warmup_proportion: float = 0.1
    num_train_runs: int = 1
    evaluate_each_epoch: bool = False
    early_stopping_patience: int = 0
    metric_for_best: str | None = None
    load_best: bool = True
    ensemble: str | None = None
    left_to_right: bool = False
    bilstm: bool = False

    actions = (*TrainingOptions.actions, "do_predict")

    @property
    def changes_weights(self) -> bool:
        """Whether weights change: by training, or by an ensemble's models."""
        return self.do_train or bool(self.ensemble)

    @property
    def scores_or_predicts(self) -> bool:
        """Whether the command evaluates or predicts."""
        return self.do_eval or self.do_predict

    @property
    def network(self) -> dict[str, bool]:
        """{name in NETWORK: whether it is given}."""
        return {name: getattr(self, name) for name in NETWORK}

    @property
    def evaluates_while_training(self) -> bool:
        """Whether the model is evaluated after each epoch of training."""
        return self.do_train and (
            self.evaluate_each_epoch or self.early_stopping_patience > 0
        )

    @property
    def evaluates(self) -> bool:
        """Whether the model is evaluated at any time."""
        return (
            self.do_eval
            # Needed because int8 is measured on the dev set.
            or self.quantizes
            or self.evaluates_while_training
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
