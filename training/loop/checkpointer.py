"""Saves the checkpoints of a training run, and restores them.

`Checkpointer.save` writes at a step:

- `model.ckpt-STEP`, a TF1 checkpoint with the variable names of Google's code.
  It contains the model's variables (including the state of dropout's random
  seed), the optimizer slots of each trained variable (`.../adam_m`,
  `.../adam_v`), `global_step`, and in float16 the loss scale (`loss_scale`,
  `loss_scale_good_steps`). A checkpoint can therefore resume training, or be
  the --init_checkpoint of another task.
- before it, a line of the history (history.py) with the hours trained and the
  best step so far.
"""

from collections.abc import Mapping
from pathlib import Path

import keras
import tensorflow as tf
from absl import logging

from files.paths import StrPath
from model_folders.checkpoint_folders import (
    CHECKPOINT_PREFIX,
    list_checkpoint_steps,
)
from model_folders.formats.tf1 import open_tf1_checkpoint
from modeling.checkpoints import tf1
from training.loop import checkpoint_rotation
from training.optimizers.adamw import TrainingOptimizer

# Keras's name of the variable in a `keras.random.SeedGenerator`.
_SEED_STATE = "seed_generator_state"


class Checkpointer:
    """Saves and restores the state of one run in `output_dir`.

    Args:
        output_dir: folder of the run. The first save creates it.
        variables: {variable name in Google's code: variable} of the model.
        optimizer: optimizer to save with the model. None = save and restore
            only the model's variables.
        keep_checkpoint_max: number of newest checkpoints to keep, 0 for all.
        is_chief: False for a worker that only reads checkpoints.

    Attributes:
        has_optimizer: whether the checkpoint that was restored contains the
            optimizer, True if none was restored.
    """

    def __init__(
        self,
        output_dir: StrPath,
        variables: Mapping[str, keras.Variable],
        optimizer: "TrainingOptimizer | None" = None,
        *,
        keep_checkpoint_max: int = 5,
        is_chief: bool = True,
    ) -> None:
        self.output_dir = Path(output_dir)
        self.keep_checkpoint_max = keep_checkpoint_max
        self.is_chief = is_chief
        self._variables = dict(variables)
        self._optimizer_state: dict[str, keras.Variable] = {}
        if optimizer is not None:
            self._optimizer_state = _name_state(optimizer, variables)
        # No step has the number -1.
        self._restored_step = -1
        self.has_optimizer = True

    def save(self, step: int, *, keeps_optimizer: bool = True) -> None:
        """Writes a checkpoint, and deletes old, later and partial checkpoints.

        A later checkpoint is damaged, because a newer step would have been
        restored, or it is the best step of a run that this run replaces. With
        `keeps_optimizer` = False, saves only the model's variables.

        Raises:
            OSError: the checkpoint could not be written. Earlier checkpoints
                do not change.
            ValueError: a weight or an optimizer slot is not finite. Nothing
                was written.
        """
        # Check on every worker, so that all workers stop at the same step.
        state = self._optimizer_state if keeps_optimizer else {}
        variables = self._variables | state
        _check_finite(step, variables)
        if not self.is_chief:
            return
        path = f"{self.output_dir}/{CHECKPOINT_PREFIX}-{step}"
        tf1.write_checkpoint(path, variables)
        checkpoint_rotation.remove_old_checkpoints(
            self.output_dir,
            step,
            restored_step=self._restored_step,
            keep_max=self.keep_checkpoint_max,
        )

    def restore(self) -> int | None:
        """Restores the newest undamaged checkpoint.

        Returns:
            the checkpoint's step, or None if there is no checkpoint.

        Raises:
            ValueError: the folder contains checkpoints, but all are damaged.
        """
        steps = list_checkpoint_steps(self.output_dir)
        for step in reversed(steps):
            try:
                path = f"{self.output_dir}/{CHECKPOINT_PREFIX}-{step}"
                self._restored_step = self.restore_from(path)
                return step
            except OSError as error:
                logging.warning("%s. Trying the next older checkpoint.", error)
        if steps:
            raise ValueError(
                f"none of the checkpoints in {self.output_dir} can be read "
                f"(steps {steps}); restore one from a backup, or train into "
                "another --output_dir"
            )
        return None

    def restore_from(self, path: str) -> int:
        """Restores one checkpoint of a run, and returns its step.

        Raises:
            OSError: the checkpoint cannot be read.
        """
        with open_tf1_checkpoint(path) as (reader, _):
            self.has_optimizer = reader.has_tensor("global_step")
            state = self._optimizer_state if self.has_optimizer else {}
            only_predicts = not self._optimizer_state
            for name, variable in (self._variables | state).items():
                # Only training draws seeds for dropout. Google's checkpoints
                # do not contain the generator's state.
                is_optional = only_predicts and variable.name == _SEED_STATE
                if reader.has_tensor(name) or not is_optional:
                    variable.assign(reader.get_tensor(name))
        logging.info("Restored the checkpoint %s", path)
        return int(path.rpartition("-")[2])


def _check_finite(step: int, variables: Mapping[str, keras.Variable]) -> None:
    """Checks that no value to save as `step` is infinite or NaN."""
    for name, variable in variables.items():
        value = tf.cast(variable.value, tf.float32)
        if not tf.reduce_all(tf.math.is_finite(value)):
            raise ValueError(
                f"after step {step}, {name} is not finite, so this step was "
                "not saved. Set a smaller --learning_rate"
            )


def _name_state(
    optimizer: TrainingOptimizer,
    variables: Mapping[str, keras.Variable],
) -> dict[str, keras.Variable]:
    """Returns {name in a checkpoint: variable} of an optimizer's state.

    `variables` are those of the model, by the names of Google's code.
    """
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        inner = optimizer.inner_optimizer
        state = {
            "global_step": inner.iterations,
            "loss_scale": optimizer.dynamic_scale,
            "loss_scale_good_steps": optimizer.step_counter,
        }
    else:
        inner = optimizer
        state = {"global_step": inner.iterations}
    for name, variable in variables.items():
        for slot, value in inner.slots(variable).items():
            state[f"{name}/{slot}"] = value
    return state
