"""Trains a student with a teacher (--teacher and --distill_*).

modeling/distillation.py computes the loss.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras

import modeling
from data.text.tokenization import FullTokenizer
from modeling import presets
from training import checks
from training.config import PRECISIONS, TrainingConfig


class Teacher:
    """The model in --teacher, whose outputs a student learns to match.

    Args:
        config: flags of the run.
        tokenizer: tokenizer of the student's texts, None if it is unknown.
        create_model: function (BertConfig, **options) -> TaskModel. `options`
            are the arguments that every model accepts.
        loss: loss of the task.
        labels: names of the model's outputs, as in `modeling.load_checkpoint`.
        output_mode: kind of the model's outputs, None if there is one only.

    Raises:
        ValueError: the teacher was not trained on this task, or has another
            tokenizer.
        OSError: the teacher cannot be read.
    """

    def __init__(
        self,
        config: TrainingConfig,
        tokenizer: FullTokenizer | None,
        create_model: Callable[..., keras.Model],
        loss: Any,
        labels: Sequence[Sequence[str]] = (),
        output_mode: str | None = None,
    ) -> None:
        path = str(config.teacher)
        folder = presets.read(path, "--teacher")
        bert_config = modeling.load_config(presets.folder_of(path))
        # The teacher reads the student's records, so both need the same
        # tokenizer. Their networks may differ.
        given = {"output_mode": output_mode} if output_mode else {}
        folder.check_identity(bert_config, tokenizer, given)
        if labels:
            checks.check_labels(folder, labels)
        self._seed = config.seed
        self._loss = modeling.DistillationLoss(
            loss,
            config.distill_temperature,
            config.distill_alpha,
            config.distill_hidden,
        )
        self._model = create_model(
            bert_config,
            **folder.network,
            unpad=config.unpads,
            dtype=PRECISIONS[config.mixed_precision],
        )
        report = modeling.load_checkpoint(self._model, path, labels=labels)
        heads = [x for x in report.missing if not x.startswith("bert/")]
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

        Raises:
            ValueError: their vocabularies have different sizes.
        """
        # The teacher's folder may lack the vocabulary to compare.
        models = self._model, student
        size, expected = (model.config.vocab_size for model in models)
        if size != expected:
            raise ValueError(
                f"--teacher has vocab_size={size}, but the model has {expected}"
                "; choose a teacher with the model's vocabulary"
            )
        distiller = modeling.Distiller(
            student, self._model, self._loss, self._seed
        )
        return distiller, self._loss
