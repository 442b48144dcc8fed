"""This project as a contestant. Calls the same functions as its scripts."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags

import exporting
import modeling
import serving
from benchmarks import tickets, timing
from command_line import flags
from data.io import record_datasets
from data.text.tokenization import FullTokenizer
from exporting import export_formats
from exporting.export_formats import ExportFormat
from model_folders.head_settings import HeadSettings
from model_folders.reading.config_files import load_config
from model_folders.scores import Scores
from model_folders.training_settings import TrainingSettings
from modeling import losses
from modeling.accelerated.prediction import GraphPredictor
from modeling.base_loss import AnyLoss
from modeling.base_model import BaseModel
from modeling.tensors import Features
from options.config import ConfigT
from options.parsed_command import ParsedCommand
from serving import engines
from training.config.classifier_config import ClassifierConfig
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps, TrainingConfig
from training.fine_tuning import checked_export
from training.fine_tuning.encoded_sets import write_encoded_sets
from training.fine_tuning.fine_tuner import FineTuner
from training.loop import devices, trainer_loading
from training.loop.run_plan import CreateModel, RunPlan
from training.loop.train_step import TrainStep
from training.preparation.starting_point_loading import load_starting_point
from training.run_files.run_folder import RunFolder
from training.starting_point import StartingPoint
from training.task import AnyFineTuningTask, EncodedSet
from training.tasks.classifier_setup import load_task, open_processor

PACKAGES = ["tensorflow", "keras"]
# Number of steps in which the learning rate falls to 0. It is so large that the
# learning rate hardly changes during a benchmark.
NUM_TRAIN_STEPS = 10**6
ModelKey: TypeAlias = Literal["encoder", "classifier", "span"]
SAMPLES = Path("examples/samples")


class OpenedMrpc(NamedTuple):
    """A run on MRPC that can begin.

    Attributes:
        starting_point: starting point of the run.
        task: task of the run.
        run_folder: folder of the run.
        encoded_sets: {name of a set: the set, with its records}.
    """

    starting_point: StartingPoint[ClassifierConfig]
    task: AnyFineTuningTask
    run_folder: RunFolder
    # Any, as in an AnyFineTuningTask.
    encoded_sets: dict[str, EncodedSet[Any, Any]]


def create_parsed_command(
    config: type[ConfigT], workload: timing.Workload, command: str
) -> ParsedCommand[ConfigT]:
    """Parses a command line of a script.

    Args:
        config: class of the script's flags.
        workload: settings of the contestant. Their values replace the names in
            braces in `command`.
        command: flags of the script.
    """
    script = config.__module__
    flags.define_flags(config, script)
    command += " --output_dir={folder} --mixed_precision={precision}"
    absl_flags.FLAGS([script, *shlex.split(command.format(**workload))])
    return flags.create_parsed_command(config)


def create_training_work(
    starting_point: StartingPoint[TrainingConfig],
    dataset: tf.data.Dataset[dict[str, tf.Tensor]],
    create_model: CreateModel,
    loss: AnyLoss,
) -> timing.Work:
    """Returns a Work that trains on the batches of an endless dataset.

    `starting_point` is where the training of a script starts from.
    """
    plan = RunPlan(
        create_model=create_model,
        loss=loss,
        num_steps=NumSteps(NUM_TRAIN_STEPS, warmup=0, between_evaluations=1),
        training_settings=TrainingSettings(),
    )
    trainer = trainer_loading.create_trainer(
        starting_point,
        RunFolder.open(starting_point),
        plan,
        strategy=devices.connect_devices(starting_point.config.devices),
    )
    # Create the iterator here, so that each repeat continues with new batches.
    batches = iter(dataset)
    # `train_step` is None only without `num_steps`.
    train_step = cast("TrainStep", trainer.train_step)

    def repeat(num_steps: int) -> None:
        # Run the steps as Trainer.fit does, but without its callbacks.
        for _ in range(num_steps):
            train_step(batches)

    return timing.Work(repeat, starting_point.config.batch_size)


def pretrain(workload: timing.Workload) -> timing.Work:
    """Pretrains BERT on random instances without padding."""
    command = (
        "--do_train --input_file=none --bert_config_file={bert_config_file} "
        "--max_seq_length={seq_length} --train_batch_size={batch_size} "
        "--max_predictions_per_seq={num_predictions}"
    )
    starting_point = load_starting_point(
        create_parsed_command(PretrainingConfig, workload, command)
    )
    vocab_size = starting_point.bert_config.vocab_size
    instances = timing.random_inputs(workload, vocab_size, num_batches=16)
    positions = timing.masked_positions(workload)
    ids = instances["input_ids"][:, positions]
    instances |= {
        "masked_lm_positions": np.tile(positions, (len(ids), 1)),
        "masked_lm_ids": ids,
        "masked_lm_weights": np.ones(ids.shape, "float32"),
        "next_sentence_labels": np.arange(len(ids), dtype="int32")[:, None] % 2,
    }
    dataset = tf.data.Dataset.from_tensor_slices(instances).repeat()
    return create_training_work(
        starting_point,
        dataset.batch(starting_point.config.batch_size).prefetch(2),
        modeling.BertPretrainer,
        losses.PretrainingLoss(),
    )


def inference(workload: timing.Workload) -> timing.Work:
    """Runs the encoder's forward pass, from NumPy arrays to NumPy arrays."""
    bert_config = load_config(workload["bert_config_file"])
    inputs = timing.random_inputs(workload, bert_config.vocab_size)
    forward: Callable[[dict[str, np.ndarray]], engines.OutputArrays | Features]
    variant = workload["variant"]
    if variant in export_formats.FILE_OF_FORMAT:
        forward = load_engine(workload, variant)
    else:
        model = modeling.BertModel(bert_config, dtype=variant)
        model.build()
        # Compile the model as BatchPredictor.predict does. An encoder returns
        # a dict.
        forward = cast(
            "Callable[[dict[str, np.ndarray]], Features]",
            tf.function(
                GraphPredictor(model),
                reduce_retracing=True,
                autograph=False,
            ),
        )

    def repeat(num_steps: int) -> None:
        for _ in range(num_steps):
            outputs = forward(inputs)
            for name in ("sequence_output", "pooled_output"):
                np.asarray(outputs[name])

    return timing.Work(repeat, workload["batch_size"])


def load_engine(
    workload: timing.Workload, name: ExportFormat
) -> Callable[[dict[str, np.ndarray]], engines.OutputArrays]:
    """Exports an encoder with random weights, and loads it into an engine.

    Returns a function from features to outputs.
    """
    source = shutil.copytree(SAMPLES, Path(workload["folder"], "source"))
    shutil.copy(workload["bert_config_file"], source / "bert_config.json")
    path = export_model(workload, source, "encoder")
    engine = engines.load_engine(Path(path), name, timing.NUM_THREADS)
    return engine.run


def open_mrpc(workload: timing.Workload, command: str) -> OpenedMrpc:
    """Writes MRPC's records. `command` adds flags of run_classifier.py."""
    command += (
        " --vocab_file={minilm_dir}/vocab.txt --data_dir={mrpc_dir} "
        "--bert_config_file={minilm_dir}/config.json --task_name=mrpc "
        "--max_seq_length={seq_length}"
    )
    parsed = create_parsed_command(ClassifierConfig, workload, command)
    starting_point = load_starting_point(parsed)
    task = load_task(starting_point, open_processor(starting_point, table=None))
    run_folder = RunFolder.open(starting_point, task.labels)
    encoded_sets = write_encoded_sets(task, starting_point.config.state_folder)
    return OpenedMrpc(starting_point, task, run_folder, encoded_sets)


def mrpc(workload: timing.Workload) -> timing.Work:
    """Fine-tunes MiniLM on MRPC as run_classifier.py does."""
    command = (
        "--init_checkpoint={minilm_dir} --do_train --learning_rate=5e-5 "
        "--train_batch_size={batch_size}"
    )
    starting_point, task, _, encoded_sets = open_mrpc(workload, command)
    dataset = record_datasets.create_dataset(
        encoded_sets["train"].records,
        starting_point.config.batch_size,
        is_training=True,
        seed=starting_point.config.training.seed,
        trims_padding=starting_point.config.trims_padding,
    )
    return create_training_work(
        starting_point, dataset, task.create_model, task.loss
    )


def export_task(workload: timing.Workload) -> timing.Work:
    """Exports a classifier of MiniLM's size, and checks it on MRPC."""
    # With --do_train, the model may have random weights.
    command = (
        "--do_train --do_eval --export_format={variant} "
        "--export_dir={folder}/model"
    )
    starting_point, task, run_folder, encoded_sets = open_mrpc(
        workload, command
    )
    plan = RunPlan(
        create_model=task.create_model,
        loss=task.loss,
        num_steps=None,
        training_settings=TrainingSettings(),
    )
    trainer = trainer_loading.create_trainer(
        starting_point,
        run_folder,
        plan,
        strategy=devices.connect_devices(starting_point.config.devices),
    )
    trainer.run_weights.load_start()
    fine_tuner = FineTuner(task, encoded_sets, trainer)
    # No export of this untrained model is worse than these scores.
    scores = Scores(dict.fromkeys(task.scoring.metrics, 0.0))
    export_dir = str(starting_point.config.export.export_dir)

    def repeat(_: int) -> dict[str, float]:
        begin_time = time.process_time()
        checked_export.export_model(fine_tuner, scores, export_dir)
        return {"CPU seconds": time.process_time() - begin_time}

    return timing.Work(repeat, 1)


def export_model(
    workload: timing.Workload,
    source: str | Path,
    model_key: ModelKey = "classifier",
) -> str:
    """Exports a model with random weights. Returns the export's path.

    Args:
        workload: settings of the contestant. "variant" is the name of an
            engine, and may continue with flags of a script.
        source: folder that contains the model's configuration and vocabulary.
        model_key: the model to export.
    """
    path = os.path.join(workload["folder"], "model")
    dtype = (
        "mixed_bfloat16" if workload["precision"] == "bfloat16" else "float32"
    )
    bert_config = load_config(source)
    words = workload["variant"].split()
    options = exporting.ExportOptions(
        tokenizer=FullTokenizer(f"{source}/vocab.txt"),
        max_seq_length=workload["seq_length"],
        formats=[
            name for name in export_formats.FILE_OF_FORMAT if name == words[0]
        ],
        quantize="int8" if workload["precision"] == "int8" else None,
    )

    def create(keras_class: type[BaseModel], *sizes: int) -> BaseModel:
        model = keras_class(bert_config, *sizes, dtype=dtype)
        model.build()
        return model

    head_settings: HeadSettings = {}
    if model_key == "encoder":
        model = create(modeling.BertModel)
    elif model_key == "classifier":
        model = create(modeling.BertClassifier, 2)
        head_settings = {"labels": ["no", "yes"]}
    else:
        model = create(modeling.BertSpanLabeler)
        # Trim padding, as the other libraries do.
        head_settings = {"trim_padding": True}
    exporting.export(path, model, head_settings, options)
    return path


def load_model(
    workload: timing.Workload, model_key: ModelKey = "classifier"
) -> serving.TextModel:
    """Exports a random model of MiniLM's size, and loads it as users do."""
    path = export_model(workload, workload["minilm_dir"], model_key)
    # TensorFlow, which runs a SavedModel, has already started its threads.
    is_saved = workload["variant"] == "saved_model"
    return serving.load(
        path, num_threads=None if is_saved else timing.NUM_THREADS
    )


def classify(workload: timing.Workload) -> timing.Work:
    """Classifies texts with `serving.load`, as users do."""
    return timing.create_mrpc_work(workload, load_model(workload).classify)


def answer(workload: timing.Workload) -> timing.Work:
    """Finds the 20 best answers to each of 200 questions."""
    loaded = load_model(workload, "span")
    pairs = timing.read_first_pairs(workload)
    questions, contexts = map(list, zip(*pairs, strict=True))
    return timing.Work(
        lambda _: loaded.answer(questions, contexts, n_best=20), len(pairs)
    )


def embed(workload: timing.Workload) -> timing.Work:
    """Computes embedding vectors of sentences."""
    return timing.create_mrpc_work(
        workload, load_model(workload, "encoder").embed
    )


def predict(workload: timing.Workload) -> timing.Work:
    """Runs predict.py from its start to its first answer.

    The model is a random classifier of MiniLM's size.
    """
    model = export_model(workload, workload["minilm_dir"])
    command = [sys.executable, "predict.py", f"--model={model}", "A blue river"]

    def repeat(_: int) -> None:
        subprocess.run(command, check=True, capture_output=True)

    return timing.Work(repeat, 1)


def bulk(workload: timing.Workload) -> timing.Work:
    """Runs predict.py on a file of tickets, or on several in processes.

    The model is a random classifier of MiniLM's size.
    """
    model = export_model(workload, workload["minilm_dir"])
    num_processes = workload["variant"].split()[1:]

    def create_command(path: Path, pattern: Path, output: str) -> list[str]:
        command = [sys.executable, "predict.py", f"--model={model}"]
        command += [f"--output_file={output}", *num_processes]
        if not num_processes:
            return [*command, f"--input_file={path}"]
        # This is the default for 20,000 texts. For fewer texts, the default
        # may leave a process without work.
        command += [f"--num_shards={tickets.NUM_FILES}"]
        return [*command, f"--input_file={pattern}"]

    return tickets.create_tickets_work(workload, create_command)
