"""A model with two weights, a Trainer for it, and batches to train on.

For example:

    trainer = create_loop_trainer(tmp_path, save_checkpoints_steps=6)
    fit_batches(trainer, create_batches([1, np.nan]), 50)
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

import modeling
from data.io.record_datasets import Records
from files.paths import StrPath
from modeling.base_loss import BatchLoss
from modeling.tensors import Features, Tensor
from options.fields import option
from options.parsed_command import ParsedCommand
from training.config.training_config import TrainingConfig
from training.loop.callbacks import Callback, Decision, Logs
from training.loop.train_step import TrainStep
from training.loop.trainer import Trainer
from training.optimizers import optimization
from training.optimizers.adamw import TrainingOptimizer
from training.run_files.run_folder import RunFolder
from training.starting_point import InitialFolder, StartingPoint

# {name: array [B, ...]}
Batch: TypeAlias = Mapping[str, NDArray[Any]]

BATCH_SIZE = 2


class TwoWeightModel(keras.Model):
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


class SumLoss(BatchLoss[tuple[Tensor, Tensor]]):
    """Sums the products. The root of a 0 makes the gradient infinite."""

    term_names = ("part",)

    def divisors(self, features: Features) -> dict[str, Tensor]:
        return {"part": tf.cast(tf.size(features["factor"]), tf.float32)}

    def sums(
        self, outputs: tuple[Tensor, Tensor], features: Features
    ) -> dict[str, Tensor]:
        product, zero = outputs
        roots = tf.where(features["zero"] > 0, tf.sqrt(zero), 0.0)
        return {"part": tf.reduce_sum(product) + tf.reduce_sum(roots)}


class OnStep(Callback):
    """Calls a function with the number and the logs of each step."""

    def __init__(self, function: Callable[[int, Logs], None]) -> None:
        self._function = function

    def on_step(self, step: int, logs: Logs) -> Decision:
        self._function(step, logs)
        return Decision.NONE


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(TrainingConfig):
    """Configuration of a Trainer that may run several steps in one call."""

    at_once: int = option(1, "Number of steps in one call.")
    load_best: bool = option(False, "Without training, load the best step.")

    @property
    def max_seq_length(self) -> int:
        """The model reads numbers, not WordPieces."""
        return 1

    @property
    def steps_per_call(self) -> int:
        return self.at_once

    @property
    def starts_from_best(self) -> bool:
        return self.load_best


def create_loop_config(output_dir: StrPath, **changes: object) -> Config:
    """Returns a configuration that keeps all checkpoints."""
    defaults = {
        "keep_checkpoint_max": 0,
        "summary_steps": 0,
        "train_batch_size": BATCH_SIZE,
    }
    return Config.from_values(
        output_dir=str(output_dir),
        **defaults | changes,
    )


def create_batch_dataset(
    batches: Sequence[Batch],
) -> tf.data.Dataset[dict[str, tf.Tensor]]:
    """Returns a dataset of batches, with the types that records have."""
    return tf.data.Dataset.from_tensor_slices(
        {
            name: _stack([batch[name] for batch in batches])
            for name in batches[0]
        }
    )


def _stack(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Returns arrays as one, of float32 or int32."""
    stacked = np.stack(arrays)
    return stacked.astype("float32" if stacked.dtype.kind == "f" else "int32")


def fit_batches(
    trainer: Trainer,
    batches: Sequence[Batch],
    num_train_steps: int,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Trains with `fit` on the first batch in step 1, and so on.

    The batches take the place of the dataset that `fit` would create from
    records, whose order is random.
    """
    assert num_train_steps <= len(batches)
    dataset = create_batch_dataset(batches)
    batches_left = dataset.skip(trainer.run_weights.global_step)
    with mock.patch.object(
        trainer, "create_dataset", return_value=batches_left
    ):
        trainer.fit(Records([], {}), num_train_steps, callbacks)


def create_loop_trainer(
    output_dir: StrPath,
    precision: str = "float32",
    strategy: tf.distribute.Strategy | None = None,
    model: Any = None,  # noqa: ANN401  a TaskModel, or like one
    loss: BatchLoss[Any] | None = None,
    num_steps: tuple[int, int] = (100, 0),
    **changes: Any,
) -> Trainer:
    """Returns a Trainer of a run in a folder, by default of a TwoWeightModel.

    `num_steps` are the numbers of training and warmup steps.
    """
    changes.setdefault("learning_rate", 0.1)
    config = create_loop_config(output_dir, **changes)
    plain = optimization.create_optimizer(config.optimizer, *num_steps)
    optimizer: TrainingOptimizer = plain
    if precision == "float16":
        optimizer = keras.optimizers.LossScaleOptimizer(plain)
    # A TwoWeightModel is no TaskModel, but has all that a Trainer uses of one.
    model = model or TwoWeightModel()
    step = TrainStep(
        model=model,
        loss=loss or SumLoss(),
        optimizer=optimizer,
        training_options=config.training,
        jit_compile=config.devices.jit_compile,
        strategy=strategy,
    )
    starting_point = StartingPoint(
        parsed=ParsedCommand(config),
        initial_folder=InitialFolder(),
        bert_config=modeling.BertConfig(vocab_size=1),
        tokenizer=None,
    )
    return Trainer(model, starting_point, RunFolder.open(starting_point), step)


def create_batches(
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
