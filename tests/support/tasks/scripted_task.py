"""Runs of a task whose evaluations find the accuracies that a test decides.

For example, the second of three epochs is the best one:

    run_task(create_flags(tmp_path), [0.5, 0.9, 0.7])
"""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from data.arrays import FloatArray
from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.model_json import read_model_json
from model_folders.scores import Scores
from modeling import losses
from tests.support.checkpoints import read_checkpoint
from tests.support.script_runner import Flags
from tests.support.tasks import toy_task
from training.config.fine_tuning_config import FineTuningConfig
from training.starting_point import StartingPoint
from training.task import Batches, EncodedSet, Scoring

LENGTH = 4
EXAMPLES = 8
BATCH_SIZE = 4
STEPS_PER_EPOCH = EXAMPLES // BATCH_SIZE
# Flags of a command that does not train.
WITHOUT_TRAINING = {"do_train": False, "evaluate_each_epoch": False}


class ScriptedTask(toy_task.ToyTask):
    """A task whose accuracies a test decides.

    Args:
        starting_point: as in `FineTuningTask`.
        find_accuracy: function () -> accuracy of an evaluation.
        first_example: number of the first example of the dev set.
    """

    num_examples = EXAMPLES
    max_seq_length = LENGTH

    def __init__(
        self,
        starting_point: StartingPoint[FineTuningConfig],
        find_accuracy: Callable[[], float],
        first_example: int,
    ) -> None:
        scoring = Scoring[FloatArray](
            ("accuracy", "f1"), eval_loss=losses.ClassifierLoss()
        )
        super().__init__(starting_point, scoring=scoring)
        self.find_accuracy = find_accuracy
        self.first_example = first_example

    def take_examples(self, set_name: str) -> range:
        first = self.first_example if set_name == "dev" else 0
        return range(first, first + self.num_examples)

    def compute_scores(
        self, encoded_set: EncodedSet[int, None], batches: Batches[FloatArray]
    ) -> Scores:
        assert len(list(batches)) == 1
        accuracy = self.find_accuracy()
        return Scores({"accuracy": accuracy, "f1": 1 - accuracy})

    def write_and_score_predictions(
        self,
        encoded_set: EncodedSet[int, None],
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> Scores:
        (logits,) = (outputs for _, outputs in batches)
        np.save(f"{output_dir}/logits.npy", logits)
        return Scores()


def create_flags(tmp_path: Path) -> Flags:
    """Returns flags of a run of three epochs that evaluates each of them."""
    return toy_task.create_run_flags(
        tmp_path,
        export_weights=str(tmp_path / "weights"),
        max_seq_length=LENGTH,
        learning_rate=1e-2,
        num_train_epochs=3,
        do_train=True,
        do_eval=True,
        do_predict=True,
        evaluate_each_epoch=True,
    )


def run_task(
    flags: Flags,
    accuracies: Iterable[float],
    first_example: int = 0,
    **changes: object,
) -> None:
    """Runs a command that must evaluate as often as there are accuracies.

    Args:
        flags: flags of a command that trains.
        accuracies: accuracy that each evaluation finds, in order.
        first_example: number of the dev set's first example, which tells one
            dev set from another.
        **changes: flags that differ from `flags`.
    """
    shutil.rmtree(flags["export_weights"], ignore_errors=True)
    left = iter(accuracies)
    toy_task.run_task(
        ScriptedTask, flags | changes, left.__next__, first_example
    )
    assert not [*left], "the command has evaluated less often"


def run_without_training(
    flags: Flags, accuracies: Iterable[float], **changes: Any
) -> None:
    """Runs a command that does not train, as `run_task` does."""
    return run_task(flags, accuracies, **WITHOUT_TRAINING | changes)


def exported_steps(folder: Path) -> set[int]:
    """Returns the set of steps whose weights the last command exported.

    Several steps may have the same weights.
    """
    exported = read_checkpoint(folder / "weights/bert_model.ckpt")
    steps = set()
    for path in (folder / "run", folder / "run/best"):
        for step in list_checkpoint_steps(path):
            saved = read_checkpoint(path, step)
            if all(
                np.array_equal(exported[name], saved[name]) for name in exported
            ):
                steps.add(step)
    return steps


def recorded_best_step(folder: Path) -> int:
    """Returns the best step that a run's description names."""
    best_step = read_model_json(folder / "run")["best_step"]
    assert best_step is not None
    return best_step


def remove_checkpoints(folder: Path) -> None:
    """Removes the checkpoints of a run, but not its best step."""
    for file in folder.glob("model.ckpt-*"):
        file.unlink()
