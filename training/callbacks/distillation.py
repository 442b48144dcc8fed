"""Trains a student with a teacher (--teacher and --distill_*).

modeling/distillation.py computes the loss. In fine-tuning, the teacher's
outputs are computed once and saved beside the training records. Hidden states,
attention and the outputs of pretraining would need gigabytes of disk, so the
teacher computes them in every step.
"""

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
from absl import logging

import modeling
from data.io import feature_specs, tfrecords
from data.io.records import (
    RecordWriter,
    count_records,
    encode_example,
    read_records,
)
from files import json_files
from files.atomic import write_json
from modeling.distillation import (
    OUTPUT_PREFIX,
    DistillationLoss,
    Distiller,
)
from training import fingerprints, model_folder
from training.callbacks import Callback
from training.config import (
    PRECISIONS,
    FineTuningConfig,
    PretrainingConfig,
    TrainingConfig,
)
from training.model_folder import folder_of
from training.prediction import BatchPredictor

# Logit that pads the teacher's outputs. Its softmax is 0.
_PADDING = -10000.0


def check_teacher(
    config: PretrainingConfig | FineTuningConfig,
    bert_config: modeling.BertConfig,
) -> None:
    """Checks that the teacher's model fits the student and the other flags.

    Raises:
        ValueError: a flag contradicts the teacher.
    """
    layers, start = config.initial_layers, config.initial_checkpoint
    if layers is not None and start is not None:
        given = f"--init_layers={','.join(config.init_layers or ())}"
        if len(layers) != bert_config.num_hidden_layers:
            raise ValueError(
                f"{given} names {len(layers)} blocks, but the model has "
                f"{bert_config.num_hidden_layers}; list exactly "
                f"{bert_config.num_hidden_layers} blocks"
            )
        names = modeling.read_shapes(modeling.find_checkpoint(start))
        found = re.findall(r"\blayer[_.](\d+)[/.]", "\n".join(names))
        blocks = set(map(int, found))
        if missing := sorted(set(layers) - blocks):
            raise ValueError(
                f"{given}: {start} contains no block {missing[0]}; choose from "
                f"0 to {max(blocks, default=-1)}"
            )
    if not config.teacher:
        return
    teacher = load_teacher_config(config.teacher)
    for name, needed in (
        ("vocab_size", True),
        ("num_attention_heads", config.distill_layers),
        # The student can only learn vectors of its own width.
        ("hidden_size", config.head == "BertEmbedder"),
    ):
        theirs, ours = getattr(teacher, name), getattr(bert_config, name)
        if needed and theirs != ours:
            raise ValueError(
                f"--teacher={config.teacher} sets {name}={theirs}, but the "
                f"model has {ours} in {config.bert_config_file}; choose a "
                f"teacher with the model's {name}"
            )
    if config.max_seq_length > teacher.max_position_embeddings:
        raise ValueError(
            f"--max_seq_length={config.max_seq_length} is more than the "
            f"{teacher.max_position_embeddings} positions of --teacher="
            f"{config.teacher}; set a smaller length"
        )
    modeling.find_checkpoint(config.teacher)
    if config.open_run().contains(config.teacher):
        raise ValueError(
            f"--output_dir={config.output_dir} is also the folder of --teacher="
            f"{config.teacher}, so the run would resume from the teacher; "
            "set another --output_dir"
        )


def load_teacher_config(teacher: str) -> modeling.BertConfig:
    """Reads the model configuration in a teacher's folder."""
    try:
        return modeling.load_config(folder_of(teacher))
    except FileNotFoundError as error:
        raise ValueError(
            f"--teacher={teacher} contains no bert_config.json or config.json; "
            "use a folder with a checkpoint, for example one written with "
            "--export_weights"
        ) from error


class Teacher(Callback):
    """Trains a student to match the outputs of the model in --teacher.

    Args:
        config: configuration that `check_teacher` accepts.
        create_model: function (BertConfig, **options) -> TaskModel. `options`
            are the arguments that every model accepts.
        loss: loss of the task.
        labels: names of the model's outputs, as in `modeling.load_checkpoint`.

    Attributes:
        settings: settings that must not change when a run is resumed.

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
        folder = model_folder.read(path)
        found = folder.labels
        if labels and found and not modeling.find_order(found, labels):
            raise ValueError(
                f"--teacher={path} was trained with the labels {found}, but "
                f"the labels of this task are {list(labels[0])}. Use a teacher "
                "of the same task"
            )
        self._config = config
        self._loss = DistillationLoss(
            loss,
            config.distill_temperature,
            config.distill_alpha,
            config.distill_layers,
        )
        self.settings = {
            "teacher": fingerprints.fingerprint_checkpoint(path),
            "distill_temperature": config.distill_temperature,
            "distill_alpha": config.distill_alpha,
            "distill_layers": config.distill_layers,
        }
        self._model: Any = create_model(
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
                "--distill_layers and --distill_alpha=0 to learn only from the "
                "teacher's layers"
            )

    def wrap(self, model: Any, loss: Any) -> tuple[Any, Any]:
        """Returns a Distiller that runs both models, and the distillation loss.

        Args:
            model: the student.
            loss: loss of the task. Not used, because the distillation loss
                already contains it.
        """
        self._distiller = Distiller(
            model,
            self._loss,
            self._model,
            self._config.seed,
        )
        return self._distiller, self._loss

    def variables(self) -> dict[str, keras.Variable]:
        """Returns {path in Keras: variable} of the Distiller's projection.

        The projection is the layer that maps the student's hidden states to the
        teacher's width.
        """
        return {v.path: v for v in self._distiller.own_variables}

    def add_outputs(self, records: tfrecords.Records) -> tfrecords.Records:
        """Returns training records with the teacher's outputs added.

        Writes the new records beside `records`, with a JSON file that
        identifies the teacher and the original records. If an earlier run wrote
        new records from the same teacher and records, reuses them. Finally,
        frees the teacher's memory.
        """
        model, config = self._model, self._config
        (source,), spec, _ = records
        path = os.path.join(os.path.dirname(source), "train_teacher.tf_record")
        shapes = _by_name(
            model.compute_output_shape(
                {name: (None, *feature.shape) for name, feature in spec.items()}
            )
        )
        made_from = {
            "teacher": self.settings["teacher"],
            "records": fingerprints.fingerprint([source], whole=True),
            "mixed_precision": config.mixed_precision,
            "unpads": config.unpads,
        }

        def describe() -> dict[str, Any]:
            written = fingerprints.fingerprint([path], whole=True)
            return {**made_from, "written": written}

        known = None
        # If the JSON file is missing or damaged, compute the outputs again.
        with contextlib.suppress(OSError, ValueError):
            known = json_files.read_json(f"{path}.json")
        if not (known and os.path.isfile(path) and known == describe()):
            logging.info(
                "Computing the outputs of --teacher=%s", config.teacher
            )
            self._write_records(model, records, path, shapes)
            write_json(f"{path}.json", describe())
        self._model = None
        added = {
            OUTPUT_PREFIX + name: feature_specs.Feature(shape[1:], "float32")
            for name, shape in shapes.items()
        }
        return tfrecords.Records([path], {**spec, **added})

    def _write_records(
        self,
        model: keras.Model,
        records: tfrecords.Records,
        path: str,
        shapes: Mapping[str, Sequence[int]],
    ) -> None:
        """Writes the records to `path`, each with the model's outputs added.

        `shapes` is {name of an output: its shape}.
        """
        config = self._config
        dataset = tfrecords.create_dataset(
            records,
            config.train_batch_size,
            is_training=False,
            trim=config.unpads,
        )
        serialized = read_records(records.files[0])
        count = count_records(records.files)
        batches = BatchPredictor(model, config.jit_compile).predict(
            dataset,
            -(-count // config.train_batch_size),
            "Computing teacher outputs",
        )
        with RecordWriter([path]) as writer:
            for _, outputs in batches:
                rows = {}
                for name, value in _by_name(outputs).items():
                    # The batch was cut to its longest example. Pad the outputs
                    # to their full shape.
                    gaps = [
                        (0, full - there)
                        for full, there in zip(
                            shapes[name][1:], value.shape[1:], strict=True
                        )
                    ]
                    value = np.pad(
                        value.astype(np.float32),
                        [(0, 0), *gaps],
                        constant_values=_PADDING,
                    )
                    rows[OUTPUT_PREFIX + name] = value.reshape(len(value), -1)
                # Append the outputs to the bytes of each record. A parser of
                # protocol buffers reads two concatenated messages as one
                # message with the fields of both.
                for values in zip(*rows.values(), strict=True):
                    added = encode_example(dict(zip(rows, values, strict=True)))
                    writer.write(next(serialized) + added)


def _by_name(outputs: Any) -> dict[str, Any]:
    """Returns {name: output} of a model. A single output is named "outputs"."""
    return outputs if isinstance(outputs, dict) else {"outputs": outputs}
