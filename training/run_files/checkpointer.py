"""Saves the checkpoints of a run, restores them, and removes old ones.

`Checkpointer.save` writes at a step:

- `model.ckpt-STEP`, a TF1 checkpoint with the variable names of Google's code.
  It contains the model's variables (including the state of dropout's random
  seed), the optimizer slots of each trained variable (`.../adam_m`,
  `.../adam_v`), `global_step`, and in float16 the loss scale (`loss_scale`,
  `loss_scale_good_steps`). A checkpoint can therefore resume training, or be
  the --init_checkpoint of another task.
- `checkpoint`, the list of the checkpoints that the run keeps.

Before `StepLoop` saves a step, it writes a line of the history, with the hours
trained and the best step so far.
"""

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import keras
import tensorflow as tf
from absl import logging

from files.atomic import write_text
from files.paths import StrPath
from model_folders.checkpoint_folders import (
    CHECKPOINT_PREFIX,
    list_checkpoint_steps,
)
from model_folders.formats.tf1_weights import (
    check_tf1_files,
    open_tf1_checkpoint,
)
from modeling.checkpoints import tf1_writer
from training.optimizers.adamw import TrainingOptimizer

# Keras's name of the variable in a `keras.random.SeedGenerator`.
_SEED_STATE = "seed_generator_state"
# Matches the files that saving a checkpoint writes, but not similar names, such
# as a user's copies.
_CHECKPOINT_FILE = re.compile(
    re.escape(CHECKPOINT_PREFIX)
    + r"-(?P<step>0|[1-9][0-9]*)(?P<partial>\.partial(-[0-9]+)?)?"
    + r"\.(index|data-00000-of-00001)(\.tempstate[0-9]+)?"
)


class Checkpointer:
    """Saves and restores the state of one run in a folder.

    Args:
        folder: folder of the checkpoints. The first save creates it.
        variables: {variable name in Google's code: variable} of the model.
        optimizer: optimizer to save with the model. If None, only the model's
            variables are saved and restored.
        keep_checkpoint_max: number of newest checkpoints to keep, 0 for all.
        is_chief: False for a worker that only reads checkpoints.

    Attributes:
        has_optimizer: whether the checkpoint that was restored contains the
            optimizer, True if none was restored.
    """

    def __init__(
        self,
        folder: StrPath,
        variables: Mapping[str, keras.Variable],
        optimizer: "TrainingOptimizer | None" = None,
        *,
        keep_checkpoint_max: int = 5,
        is_chief: bool = True,
    ) -> None:
        self._folder = Path(folder)
        self._keep_checkpoint_max = keep_checkpoint_max
        self._is_chief = is_chief
        self._variables = dict(variables)
        self._optimizer_state: dict[str, keras.Variable] = {}
        if optimizer is not None:
            self._optimizer_state = _name_state(optimizer, variables)
        # No step has the number -1.
        self._restored_step = -1
        self.has_optimizer = True

    def save(self, step: int, *, keeps_optimizer: bool = True) -> None:
        """Writes a checkpoint, and deletes old, later and partial checkpoints.

        A checkpoint of a later step is damaged, because otherwise this run
        would have restored it, or it is the best step of a run that this run
        replaces. With `keeps_optimizer` = False, saves only the model's
        variables.

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
        if not self._is_chief:
            return
        path = f"{self._folder}/{CHECKPOINT_PREFIX}-{step}"
        tf1_writer.write_checkpoint(path, variables)
        remove_old_checkpoints(
            self._folder,
            step,
            restored_step=self._restored_step,
            keep_max=self._keep_checkpoint_max,
        )

    def restore(self) -> int:
        """Restores the newest undamaged checkpoint, and returns its step.

        Raises:
            ValueError: the folder contains no checkpoint, or all are damaged.
        """
        steps = list_checkpoint_steps(self._folder)
        for step in reversed(steps):
            try:
                path = f"{self._folder}/{CHECKPOINT_PREFIX}-{step}"
                self._restored_step = self.restore_from(path)
                return step
            except OSError as error:
                logging.warning("%s. Trying the next older checkpoint.", error)
        raise ValueError(
            f"none of the checkpoints in {self._folder} can be read (steps "
            f"{steps}); restore one from a backup, or train into another "
            "--output_dir"
        )

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

    `variables` are {name in Google's code: variable} of the model.
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


def remove_old_checkpoints(
    folder: Path, step: int, *, restored_step: int, keep_max: int
) -> None:
    """Removes old, later and partial checkpoints after a step was saved.

    Checkpoints that the file `checkpoint` does not list are the user's. They
    stay. Then the file lists the checkpoints that the run keeps.

    Args:
        folder: folder of the checkpoints.
        step: the step that was saved.
        restored_step: the step that the run was resumed from, -1 for none.
        keep_max: number of newest checkpoints to keep, 0 for all.

    Raises:
        OSError: a file cannot be removed, or the list cannot be written.
    """
    listing = folder / "checkpoint"
    steps = list_checkpoint_steps(folder)
    own_steps = _read_listing(listing) | {step, restored_step}
    kept = [
        own_step
        for own_step in steps
        if own_step <= step and own_step in own_steps
    ]
    if keep_max:
        kept = kept[-keep_max:]
    users_steps = {*steps} - own_steps
    _remove_others(folder, {*kept} | users_steps)
    _write_listing(listing, step, kept)


def _read_listing(listing: Path) -> set[int]:
    """Returns the steps that `_write_listing` wrote, or none."""
    if not listing.is_file():
        return set()
    text = listing.read_text(errors="replace")
    return {*map(int, re.findall(rf'"{CHECKPOINT_PREFIX}-(\d+)"', text))}


def _write_listing(listing: Path, step: int, kept: Sequence[int]) -> None:
    """Writes the file that tf.train.latest_checkpoint reads."""
    lines = [f'model_checkpoint_path: "{CHECKPOINT_PREFIX}-{step}"']
    lines += [
        f'all_model_checkpoint_paths: "{CHECKPOINT_PREFIX}-{kept_step}"'
        for kept_step in kept
    ]
    write_text(listing, "\n".join(lines) + "\n")


def _remove_others(folder: Path, staying: set[int]) -> None:
    """Removes the checkpoints of other steps, and partial files.

    A run that was killed while saving leaves partial files.
    """
    # Delete indices first, because a data file without an index is no
    # checkpoint.
    for file in sorted(
        folder.iterdir(), key=lambda file: ".index" not in file.name
    ):
        match = _CHECKPOINT_FILE.fullmatch(file.name)
        if match and (match["partial"] or int(match["step"]) not in staying):
            file.unlink(missing_ok=True)


def link_checkpoint(step: int, source_folder: StrPath, folder: StrPath) -> None:
    """Replaces a folder's step by links to it in `source_folder`, if possible.

    The step stays a copy if the source is missing or damaged, or cannot be
    linked. If the process is killed, the step may be missing in `folder` until
    the next call.
    """
    source = f"{source_folder}/{CHECKPOINT_PREFIX}-{step}"
    target = f"{folder}/{CHECKPOINT_PREFIX}-{step}"
    partial = f"{target}.partial"
    with contextlib.suppress(OSError):
        check_tf1_files(source)
        for end in tf1_writer.ENDINGS:
            Path(partial + end).unlink(missing_ok=True)
            os.link(os.path.realpath(source + end), partial + end)
        for end in reversed(tf1_writer.ENDINGS):
            Path(target + end).unlink(missing_ok=True)
        for end in tf1_writer.ENDINGS:
            os.rename(partial + end, target + end)
