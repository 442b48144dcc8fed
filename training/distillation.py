"""Trains a student with a teacher (--teacher and --distill_*).

modeling/distillation.py computes the loss.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras

import modeling
from modeling import presets
from training.config import PRECISIONS, TrainingConfig


def check_teacher(
    config: TrainingConfig, bert_config: modeling.BertConfig
) -> None:
    """Checks that the teacher reads the same ids as the student.

    Raises:
        ValueError: their vocabularies have different sizes.
        OSError: the teacher's configuration cannot be read.
    """
    if not config.teacher:
        return
    theirs = load_teacher_config(config.teacher).vocab_size
    if theirs != bert_config.vocab_size:
        raise ValueError(
            f"--teacher={config.teacher} sets vocab_size={theirs}, but the "
            f"model has {bert_config.vocab_size} in {config.bert_config_file}; "
            "choose a teacher with the model's vocabulary"
        )


def load_teacher_config(teacher: str) -> modeling.BertConfig:
    """Reads the model configuration in a teacher's folder."""
    return modeling.load_config(presets.folder_of(teacher))


class Teacher:
    """The model in --teacher, whose outputs a student learns to match.

    Args:
        config: configuration that `check_teacher` accepts.
        create_model: function (BertConfig, **options) -> TaskModel. `options`
            are the arguments that every model accepts.
        loss: loss of the task.
        labels: names of the model's outputs, as in `modeling.load_checkpoint`.

    Raises:
        ValueError: the teacher was not trained on this task.
        OSError: the teacher cannot be read.
    """

    def __init__(
        self,
        config: TrainingConfig,
        create_model: Callable[..., keras.Model],
        loss: Any,
        labels: Sequence[Sequence[str]] = (),
    ) -> None:
        path = str(config.teacher)
        folder = presets.read(path)
        found = folder.labels
        if labels and found and not modeling.find_order(found, labels):
            raise ValueError(
                f"--teacher={path} was trained with the labels {found}, but "
                f"the labels of this task are {list(labels[0])}. Use a teacher "
                "of the same task"
            )
        self._seed = config.seed
        self._loss = modeling.DistillationLoss(
            loss,
            config.distill_temperature,
            config.distill_alpha,
            config.distill_hidden,
        )
        self._model = create_model(
            load_teacher_config(path),
            **folder.network,
            unpad=config.unpads,
            dtype=PRECISIONS[config.mixed_precision],
        )
        report = modeling.load_checkpoint(self._model, path, labels=labels)
        missing = report.missing
        heads = [name for name in missing if not name.startswith("bert/")]
        if heads and config.distill_alpha:
            raise ValueError(
                f"--teacher={path} contains no {heads[0]}, a weight of the "
                "task's head. Train the teacher on this task first, or set "
                "--distill_hidden and --distill_alpha=0 to learn only from the "
                "teacher's last block"
            )

    def distill(
        self, student: keras.Model
    ) -> tuple[modeling.Distiller, modeling.DistillationLoss]:
        """Returns the model and the loss of a TrainStep that distills.

        A Distiller runs both models, and the loss compares their outputs. Call
        this method in the scope of the student's strategy.
        """
        distiller = modeling.Distiller(
            student, self._model, self._loss, self._seed
        )
        return distiller, self._loss
