"""A model with two weights, and a Trainer for it that reads given batches.

For example:

    trainer = create_trainer(tmp_path, save_checkpoints_steps=6)
    fit(trainer, batches([1, np.nan]), 50)
"""

import dataclasses
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

import modeling
from command_line import config_values
from command_line.flags import flag, group
from data.arrays import IntArray
from data.io import feature_specs, records, tf_examples, tfrecords
from files.paths import StrPath
from modeling.base_loss import BatchLoss
from modeling.tensors import Features, Tensor
from training.loop.callbacks import Callback, Logs
from training.loop.train_step import TrainStep
from training.loop.trainer import Trainer
from training.optimizers import optimization
from training.optimizers.adamw import TrainingOptimizer
from training.run.run_folder import RunFolder
from training.start import StartingPoint
from training.training_config import TrainingConfig, TrainingFlags

# {name: array [B, ...]}
Batch: TypeAlias = Mapping[str, NDArray[Any]]

BATCH_SIZE = 2


class Pair(keras.Model):
    """Multiplies the features `factor` and `zero` by one weight each."""

    def __init__(self) -> None:
        super().__init__(name="pair")
        self.one = self.add_weight(shape=(), initializer="ones", name="one")
        self.zero = self.add_weight(shape=(), initializer="zeros", name="zero")
        self.built = True

    def draw_seed(self) -> Tensor:
        return tf.zeros([2], tf.int32)

    def call(
        self,
        features: Features,
        training: bool | None = None,
        seed: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        del training, seed
        return features["factor"] * self.one, self.zero * features["zero"]


class Sum(BatchLoss[tuple[Tensor, Tensor]]):
    """Sums the products. The root of a 0 makes the gradient infinite."""

    terms = ("part",)

    def weights(self, features: Features) -> dict[str, Tensor]:
        return {"part": tf.cast(tf.size(features["factor"]), tf.float32)}

    def sums(
        self, outputs: tuple[Tensor, Tensor], features: Features
    ) -> dict[str, Tensor]:
        product, zero = outputs
        roots = tf.where(features["zero"] > 0, tf.sqrt(zero), 0.0)
        return {"part": tf.reduce_sum(product) + tf.reduce_sum(roots)}


class OnStep(Callback):
    """Calls a function with the number and the logs of each step."""

    def __init__(self, function: Callable[[int, Logs], bool | None]) -> None:
        self._function = function

    def on_step(self, step: int, logs: Logs) -> bool | None:
        return self._function(step, logs)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopFlags(TrainingFlags):
    """Flags of the loop, and its number that no script lets the user set."""

    max_nonfinite_steps: int = flag(10, "Steps that end a training.")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(TrainingConfig):
    """Configuration of a Trainer that may run several steps in one call."""

    training: TrainingFlags = group(LoopFlags)
    at_once: int = flag(1, "Number of steps in one call.")

    @property
    def steps_per_call(self) -> int:
        return self.at_once


def create_config(output_dir: StrPath, **changes: object) -> Config:
    """Returns a configuration that keeps all checkpoints."""
    defaults = {
        "keep_checkpoint_max": 0,
        "summary_steps": 0,
        "train_batch_size": BATCH_SIZE,
    }
    return config_values.create_config(
        Config, output_dir=str(output_dir), **defaults | changes
    )


def create_trainer(
    output_dir: StrPath,
    precision: str = "float32",
    strategy: tf.distribute.Strategy | None = None,
    model: Any = None,  # noqa: ANN401  a TaskModel, or like one
    loss: BatchLoss[Any] | None = None,
    num_steps: tuple[int, int] = (100, 0),
    **changes: Any,
) -> Trainer:
    """Returns a Trainer of a run in `output_dir`, by default of a Pair.

    `num_steps` are the numbers of training and warmup steps.
    """
    changes.setdefault("learning_rate", 0.1)
    config = create_config(output_dir, **changes)
    plain = optimization.create_optimizer(config.optimizer, *num_steps)
    optimizer: TrainingOptimizer = plain
    if precision == "float16":
        optimizer = keras.optimizers.LossScaleOptimizer(plain)
    # A Pair is no TaskModel, but has all that a Trainer uses of one.
    model = model or Pair()
    step = TrainStep(
        model=model,
        loss=loss or Sum(),
        optimizer=optimizer,
        flags=config.training,
        jit_compile=config.devices.jit_compile,
        strategy=strategy,
    )
    start = StartingPoint(
        config=config,
        preset=None,
        bert_config=modeling.BertConfig(vocab_size=1),
        tokenizer=None,
    )
    return Trainer(model, config, RunFolder.open(start), step)


def fit(
    trainer: Trainer,
    batches: Iterable[Batch],
    num_train_steps: int,
    *callbacks: Callback,
) -> None:
    """Trains on batches, of which the first is the next step's.

    Args:
        trainer: the Trainer.
        batches: dicts {name: array [B, ...]}, at least one for each step.
        num_train_steps: number of the last step.
        *callbacks: run after each step.
    """
    rows = [
        {name: values[row] for name, values in batch.items()}
        for batch in batches
        for row in range(trainer.config.batch_size)
    ]
    spec = {
        name: feature_specs.Feature(
            value.shape, "float32" if value.dtype.kind == "f" else "int64"
        )
        for name, value in rows[0].items()
    }
    # Steps that are over have read records, which never come again.
    num_read = trainer.weights.global_step * trainer.config.batch_size
    rows = [rows[0]] * num_read + rows
    with tempfile.TemporaryDirectory() as folder:
        places = _find_places(folder, trainer, len(rows))
        path = f"{folder}/rows.tfrecord"
        _write_records(path, (_encode(rows[number]) for number in places))
        trainer.fit(tfrecords.Records([path], spec), num_train_steps, callbacks)


def _find_places(folder: str, trainer: Trainer, count: int) -> IntArray:
    """Returns for each of `count` records of a file when it is trained on.

    The shuffled order depends only on the seed and on the number of records.
    """
    path = f"{folder}/numbers.tfrecord"
    _write_records(
        path,
        (
            tf_examples.encode_example({"number": [number]})
            for number in range(count)
        ),
    )
    spec = {"number": feature_specs.Feature((), "int64")}
    dataset = tfrecords.create_dataset(
        tfrecords.Records([path], spec),
        batch_size=1,
        is_training=True,
        seed=trainer.config.training.seed,
    )
    order = [int(batch["number"][0]) for batch in dataset.take(count)]
    return np.argsort(order)


def _encode(row: Batch) -> bytes:
    """Serializes {name: array} as a `tf.train.Example`."""
    return tf_examples.encode_example(
        {
            name: value.reshape(-1)
            if value.dtype.kind == "f"
            else value.reshape(-1).tolist()
            for name, value in row.items()
        }
    )


def _write_records(path: str, serialized: Iterable[bytes]) -> None:
    """Writes serialized records to a new file."""
    with records.RecordWriter([path]) as writer:
        for record in serialized:
            writer.write(record)


def batches(
    factors: Sequence[float], zeros: Sequence[float] | None = None
) -> list[Batch]:
    """Returns one batch for each factor, then batches of factor 1."""
    all_factors = np.append(factors, np.ones(100)).astype(np.float32)
    all_zeros = np.zeros_like(all_factors) if zeros is None else zeros
    return [
        {
            "factor": np.full(BATCH_SIZE, factor),
            "zero": np.full(BATCH_SIZE, zero),
        }
        for factor, zero in zip(all_factors, all_zeros, strict=False)
    ]
