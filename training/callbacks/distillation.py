"""Training with a teacher: --teacher and its flags.

What the student minimizes is in modeling/distillation.py. In fine-tuning the
teacher's outputs are computed once and kept next to the training records;
hidden states and attention, and the outputs of pretraining, would take
gigabytes, so there the teacher runs in every step.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

import modeling
from data.io import feature_specs, tfrecords
from files import json_files
from files.atomic import write_json
from modeling.distillation import DistillationLoss, Distiller
from training import run_settings
from training.callbacks import Callback
from training.config import (
    PRECISIONS,
    FineTuningConfig,
    PretrainingConfig,
    TrainingConfig,
)
from training.trainer import Trainer

# Logits at padding, which vanish in a softmax.
_PADDING = -10000.0


def check(
    options: PretrainingConfig | FineTuningConfig,
    config: modeling.BertConfig,
) -> None:
    """Refuses flags that contradict the teacher, before any long work."""
    _check_init_layers(options, config)
    if not options.teacher:
        return
    teacher = load_teacher_config(options.teacher)
    for name, needed in (
        ("vocab_size", True),
        ("num_attention_heads", options.distill_layers),
    ):
        theirs, ours = getattr(teacher, name), getattr(config, name)
        if needed and theirs != ours:
            raise ValueError(
                f"--teacher={options.teacher} has {name}={theirs}, and the "
                f"model {ours} in {options.bert_config_file}; to learn from it "
                "both must be equal"
            )
    if options.max_seq_length > teacher.max_position_embeddings:
        raise ValueError(
            f"--max_seq_length={options.max_seq_length} is more than the "
            f"{teacher.max_position_embeddings} positions of --teacher="
            f"{options.teacher}; give a smaller one"
        )
    modeling.find_checkpoint(options.teacher)
    folder = _folder_of(options.teacher)
    if os.path.exists(options.output_dir) and os.path.samefile(
        folder, options.output_dir
    ):
        raise ValueError(
            f"--output_dir={options.output_dir} is the folder of --teacher="
            f"{options.teacher}, whose checkpoints would be the student's; "
            "give another one"
        )


def _check_init_layers(
    options: TrainingConfig, config: modeling.BertConfig
) -> None:
    layers, start = options.initial_layers, options.initial_checkpoint
    if layers is None or start is None:
        return
    given = f"--init_layers={','.join(options.init_layers or ())}"
    if len(layers) != config.num_hidden_layers:
        raise ValueError(
            f"{given} names {len(layers)} blocks, and the model has "
            f"{config.num_hidden_layers}; name one for each"
        )
    names = modeling.read_shapes(modeling.find_checkpoint(start))
    found = {
        int(number)
        for name in names
        for number in re.findall(r"\blayer[_.](\d+)[/.]", name)
    }
    if missing := sorted(set(layers) - found):
        raise ValueError(
            f"{given}: {start} has no block {missing[0]}; its blocks are 0 to "
            f"{max(found, default=-1)}"
        )


def load_teacher_config(teacher: str) -> modeling.BertConfig:
    """Returns the configuration in a teacher's folder."""
    try:
        return modeling.load_config(_folder_of(teacher))
    except FileNotFoundError as error:
        raise ValueError(
            f"--teacher={teacher} has no bert_config.json or config.json next "
            "to its checkpoint; --export_weights writes a folder with both"
        ) from error


def _folder_of(teacher: str) -> str:
    folder = teacher if os.path.isdir(teacher) else os.path.dirname(teacher)
    return folder or "."


class Teacher:
    """The loaded model of --teacher, for all trainings of a command.

    Args:
        options: TrainingConfig that `check` accepts.
        create_model: (config, **arguments of every model) -> TaskModel.
        loss: the task's loss.
        labels: the task's labels, or None.

    Attributes:
        settings: settings that must not change when a run is resumed.

    Raises:
        ValueError: the teacher was not trained on this task.
        OSError: it cannot be read.
    """

    def __init__(
        self,
        options: TrainingConfig,
        create_model: Callable[..., keras.Model],
        loss: Any,
        labels: Sequence[str] | None = None,
    ) -> None:
        path = str(options.teacher)
        found = modeling.load_labels(path)
        if labels and found and list(labels) != found:
            raise ValueError(
                f"--teacher={path} was trained with the labels {found}, in "
                f"this order; the task has {list(labels)}"
            )
        self._options = options
        self._loss = DistillationLoss(
            loss,
            options.distill_temperature,
            options.distill_alpha,
            options.distill_layers,
        )
        self.settings = {
            "teacher": run_settings.fingerprint(_files(path), whole=True),
            "distill_temperature": options.distill_temperature,
            "distill_alpha": options.distill_alpha,
            "distill_layers": options.distill_layers,
        }
        # {name of an output: its shape} of outputs that are in the records.
        self._shapes: Mapping[str, Sequence[int | None]] = {}
        self._model: keras.Model | None = create_model(
            load_teacher_config(path),
            **run_settings.read_network(path),
            unpad=options.unpads,
            dtype=PRECISIONS[options.mixed_precision],
        )
        missing = modeling.load_checkpoint(self._model, path).missing
        heads = [name for name in missing if not name.startswith("bert/")]
        if heads and options.distill_alpha:
            raise ValueError(
                f"--teacher={path} has no {heads[0]}: train it on this task "
                "first, or learn only its layers with --distill_layers "
                "--distill_alpha=0"
            )

    def create_callback(self, student: keras.Model) -> "Distillation":
        """Returns the callback that has a student learn from this teacher."""
        return Distillation(
            Distiller(
                student,
                self._loss,
                self._model,
                self._read_outputs,
                self._options.seed,
            )
        )

    def add_outputs(
        self, source: str, path: str, spec: feature_specs.Spec
    ) -> feature_specs.Spec:
        """Writes training records with the teacher's outputs added.

        Does nothing if an earlier run wrote them from the same records, teacher
        and options. The model is released afterwards.

        Args:
            source: the TFRecord file of training.
            path: the file to write; its sources are recorded in `path`.json.
            spec: of the records.

        Returns:
            the spec of the new records.
        """
        model, options = self._model, self._options
        if model is None:
            raise ValueError("The teacher's outputs are already in the records")
        self._shapes = _by_name(
            model.compute_output_shape(
                {name: (None, *feature.shape) for name, feature in spec.items()}
            )
        )
        made_from = {
            "teacher": self.settings["teacher"],
            "records": run_settings.fingerprint([source], whole=True),
            "mixed_precision": options.mixed_precision,
            "unpads": options.unpads,
        }
        if not _is_made_from(path, made_from):
            logging.info(
                "Computing the outputs of --teacher=%s", options.teacher
            )
            self._write_records(model, source, path, spec)
            written = run_settings.fingerprint([path], whole=True)
            write_json(f"{path}.json", {**made_from, "written": written})
        self._model = None
        added = {
            f"teacher_{name}": feature_specs.Feature(shape[1:], "float32")
            for name, shape in self._shapes.items()
        }
        return {**spec, **added}

    def _write_records(
        self,
        model: keras.Model,
        source: str,
        path: str,
        spec: feature_specs.Spec,
    ) -> None:
        """Writes records with a model's outputs added; see `add_outputs`."""
        options = self._options
        dataset = tfrecords.create_dataset(
            tfrecords.Records([source], spec),
            options.train_batch_size,
            is_training=False,
            trim=options.unpads,
        )
        records = tfrecords.read_records(source)
        count = tfrecords.count_records([source])
        batches = Trainer(model, None, None, options).predict(
            dataset,
            -(-count // options.train_batch_size),
            "Computing teacher outputs",
        )
        with tfrecords.RecordWriter([path]) as writer:
            for _, outputs in batches:
                rows = {
                    f"teacher_{name}": _padded(value, self._shapes[name])
                    for name, value in _by_name(outputs).items()
                }
                # Two concatenated messages are parsed as one, with the
                # fields of both.
                for added in tfrecords.encode_examples(rows):
                    writer.write(next(records) + added)

    def _read_outputs(self, features: Mapping[str, tf.Tensor]) -> Any:
        """Returns the teacher's outputs in features, as its model's."""
        outputs = {name: features[f"teacher_{name}"] for name in self._shapes}
        return outputs.get("outputs", outputs)


class Distillation(Callback):
    """Trains a student with its teacher.

    Args:
        distiller: the student and its teacher.
    """

    def __init__(self, distiller: Distiller) -> None:
        self._distiller = distiller

    def wrap(self, model: Any, loss: Any) -> tuple[Any, Any]:
        """Returns the student with its teacher, and their loss."""
        return self._distiller, self._distiller.loss

    def variables(self) -> dict[str, keras.Variable]:
        """Returns the projection's variables, if there are any."""
        return {v.path: v for v in self._distiller.own_variables}


def _files(teacher: str) -> list[str]:
    """Returns the files of a teacher's checkpoint."""
    found = modeling.find_checkpoint(teacher)
    if os.path.isfile(found):
        return [found]
    folder, name = os.path.split(found)
    return [
        os.path.join(folder, file)
        for file in sorted(tf.io.gfile.listdir(folder or "."))
        if file == f"{name}.index" or file.startswith(f"{name}.data-")
    ]


def _by_name(outputs: Any) -> dict[str, Any]:
    """Returns {name: output} of a model, whose only one is "outputs"."""
    return outputs if isinstance(outputs, dict) else {"outputs": outputs}


def _is_made_from(path: str, made_from: Mapping[str, Any]) -> bool:
    """Returns whether a file is complete and made from the given sources."""
    if not (os.path.isfile(path) and os.path.isfile(f"{path}.json")):
        return False
    try:
        kept = json_files.read_json(f"{path}.json")
    except ValueError:
        return False
    written = run_settings.fingerprint([path], whole=True)
    return kept == {**made_from, "written": written}


def _padded(values: np.ndarray, shape: Sequence[int | None]) -> np.ndarray:
    """Returns float32 [B, -1] of outputs cut to their batch's length."""
    widths = [
        (0, full - there)
        for full, there in zip(shape[1:], values.shape[1:], strict=True)
    ]
    values = np.pad(
        values.astype(np.float32), [(0, 0), *widths], constant_values=_PADDING
    )
    return values.reshape(len(values), -1)
