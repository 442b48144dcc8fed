"""Opens the run of a command by its `RunPlan`, for both flows.

`Trainer.fit` then trains it. run_ending.py has the steps after the training.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from training.config.training_config import TrainingConfig
from training.loop.trainer import Trainer
from training.preparation.starting_point import StartingPoint
from training.run_files.run_folder import RunFolder
from training.runs.run_plan import RunPlan
from training.runs.trainer_creation import (
    create_trainer,
    set_seed_and_precision,
)

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel


def open_run(
    start: StartingPoint[TrainingConfig],
    plan: RunPlan,
    *,
    strategy: tf.distribute.Strategy,
    teacher: "AnyTaskModel | None" = None,
    label_alternatives: Sequence[Sequence[str]] = (),
    loads_best: bool = False,
) -> Trainer:
    """Opens the folder of a run, and creates its model with its weights.

    A flow has loaded the teacher before, because the seed and the precision,
    which this function sets, are only for what is created after it.

    Args:
        start: what the run starts from.
        plan: what to train and record.
        strategy: the strategy of the devices, as `devices.connect_devices`
            returns it. It creates the variables.
        teacher: the teacher to learn from, None without a teacher.
        label_alternatives: lists of names of the model's outputs, see
            `Task.label_alternatives`. Empty if the outputs are not labels.
        loads_best: whether a command that does not train loads the best step
            rather than the newest checkpoint.

    Returns:
        the Trainer, with the weights that `RunWeights.restore_or_load` chooses.

    Raises:
        ValueError: a flag does not fit the model or the devices, the weights do
            not fit the model, or a line of the history is malformed. Or
            --export_dir is set, and `serving.export` does not know the class of
            the model.
        OSError: the history or the weights cannot be read.
    """
    run_folder = RunFolder.open(
        start, plan.labels, dev_set_checksum=plan.dev_set_checksum
    )
    set_seed_and_precision(start.config)
    trainer = create_trainer(
        start, run_folder, plan, strategy=strategy, teacher=teacher
    )
    trainer.run_weights.restore_or_load(
        label_alternatives, loads_best=loads_best
    )
    return trainer
