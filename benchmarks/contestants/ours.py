"""This project, by the functions that its scripts call."""

import functools
import os
import shlex
import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from absl import flags

import modeling
import run_classifier
import run_pretraining
import run_squad
import serving
from benchmarks.contestants import worker
from data.io import tfrecords
from modeling import losses, quantization
from modeling.accelerated import inference as inference_forms
from training import costs
from training.command_line import flags as common_flags
from training.options import FineTuningOptions, PretrainingOptions
from training.steps import building, runner
from training.tasks import checks, fine_tuning, preparation, pretraining
from training.tasks.splits import Splits

FLAGS = flags.FLAGS
# Of a training that is never finished: its learning rate stays.
NUM_TRAIN_STEPS = 10**6


def parse_flags(script, spec, kind=FineTuningOptions, **arguments):
    """Gives a script its flags, as its command line would.

    Returns:
        options of a kind, see training/options.py.
    """
    script.define_flags()
    precision = spec["precision"]
    if precision == "int8":
        # What is not in int8 is in bfloat16, if the variant says no other.
        precision, arguments["quantize"] = "bfloat16", "int8"
    arguments |= {
        "output_dir": spec["folder"],
        "mixed_precision": precision,
    }
    given = [f"--{name}={value}" for name, value in arguments.items()]
    FLAGS([script.__name__, *given, *shlex.split(spec["variant"])])
    if not arguments.get("do_train"):
        inference_forms.pack_weights(FLAGS.mixed_precision)
    return common_flags.read(kind)


def create_run(options, create_model, loss, num_train_steps=NUM_TRAIN_STEPS):
    """Returns the runner.Run that the script would make."""
    return runner.Run(
        options,
        building.Plan(
            create_model=create_model,
            loss=loss,
            num_train_steps=num_train_steps,
            num_warmup_steps=0,
            max_seq_length=options.max_seq_length,
        ),
    )


def training(run, dataset, flops):
    """Returns the work of training on the batches of a dataset.

    Args:
        run: runner.Run.
        dataset: endless batches.
        flops: operations of the mean example.
    """
    # The iterator of an iterator is itself: repeats continue in the data.
    batches = iter(dataset)
    batch_size, trainer = run.batch_sizes.final, run.trainer

    def repeat(num_steps):
        trainer.train(batches, trainer.step + num_steps, batch_size)

    return worker.Work(repeat, batch_size, batch_size * flops)


def pretrain(spec):
    """Training steps on random instances without padding."""
    length, num_predictions = spec["seq_length"], spec["num_predictions"]
    path = os.path.join(spec["folder"], "random.tfrecord")
    options = parse_flags(
        run_pretraining,
        spec,
        PretrainingOptions,
        do_train=True,
        input_file=path,
        bert_config_file=spec["bert_config_file"],
        max_seq_length=length,
        max_predictions_per_seq=num_predictions,
        train_batch_size=spec["batch_size"],
    )
    config = checks.load_config(options.bert_config_file, length)
    rng = np.random.default_rng(0)
    with tfrecords.RecordWriter([path]) as writer:
        for _ in range(16 * spec["batch_size"]):
            positions = rng.choice(length, num_predictions, replace=False)
            ids = rng.integers(config.vocab_size, size=length)
            instance = {
                "input_ids": ids,
                "input_mask": np.ones(length, int),
                "segment_ids": np.arange(length) * 2 // length,
                "masked_lm_positions": np.sort(positions),
                "masked_lm_ids": ids[:num_predictions],
                "masked_lm_weights": np.ones(num_predictions),
                "next_sentence_labels": rng.integers(2, size=1),
            }
            writer.write(
                tfrecords.encode_example(
                    {key: value.tolist() for key, value in instance.items()}
                )
            )
    records = pretraining.find_records(options, "input_file", None)
    run = create_run(
        options,
        functools.partial(modeling.BertPretrainer, config),
        losses.PretrainingLoss(),
    )
    dataset = tfrecords.create_dataset(
        records, run.batch_sizes.final, is_training=True
    )
    flops = costs.training_flops(config, length, num_predictions)
    return training(run, dataset, flops)


def inference(spec):
    """The encoder's forward pass, from NumPy arrays to NumPy arrays."""
    config = modeling.load_config(spec["bert_config_file"])
    dtype, *options = spec["variant"].split()
    if "packed" in options:
        os.environ["TF_ONEDNN_ASSUME_FROZEN_WEIGHTS"] = "1"
    model = modeling.BertModel(config, dtype=dtype)
    model.build()
    shape = spec["batch_size"], spec["seq_length"]
    ids = np.random.default_rng(0).integers(config.vocab_size, size=shape)
    inputs = {
        "input_ids": ids.astype("int32"),
        "input_mask": np.ones(shape, "int32"),
        "segment_ids": np.zeros(shape, "int32"),
    }
    if "int8" in options:
        quantization.quantize(model, [inputs], "static" in options)
    # As Trainer.predict has it.
    forward = tf.function(
        inference_forms.Predictor(model), reduce_retracing=True, autograph=False
    )

    def repeat(num_steps):
        for _ in range(num_steps):
            outputs = forward(
                {name: tf.constant(inputs[name]) for name in inputs}
            )
            for name in ("sequence_output", "pooled_output"):
                np.asarray(outputs[name])

    # The forward pass has one product where training has three.
    flops = shape[0] * costs.training_flops(config, shape[1]) / 3
    return worker.Work(repeat, shape[0], flops)


def mrpc(spec):
    """Training steps of run_classifier.py on its own records."""
    folder = spec["minilm_dir"]
    options = parse_flags(
        run_classifier,
        spec,
        task_name="mrpc",
        data_dir=spec["mrpc_dir"],
        do_train=True,
        vocab_file=os.path.join(folder, "vocab.txt"),
        bert_config_file=os.path.join(folder, "config.json"),
        init_checkpoint=folder,
        max_seq_length=spec["seq_length"],
        train_batch_size=spec["batch_size"],
        learning_rate=5e-5,
    )
    task = run_classifier.ClassifierTask(options)
    config = preparation.prepare(task, options)
    splits = Splits(task, options)
    run = create_run(
        options, functools.partial(task.create_model, config), task.loss
    )
    # Read in order, so that there is an end.
    lengths = np.concatenate(
        [
            np.sum(batch["input_mask"], axis=-1)
            for batch in tfrecords.create_dataset(
                tfrecords.Records(
                    splits.files("train"), task.feature_spec("train")
                ),
                512,
                is_training=False,
            )
        ]
    )
    flops = costs.training_flops
    return training(
        run,
        splits.create_dataset(
            "train", run.batch_sizes.final, seed=options.seed
        ),
        np.mean([flops(config, int(length)) for length in lengths]),
    )


def squad(spec):
    """Windows, network and decoding of run_squad.py --do_predict."""
    folder = spec["minilm_dir"]
    options = parse_flags(
        run_squad,
        spec,
        predict_file=spec["squad_file"],
        do_predict=True,
        vocab_file=os.path.join(folder, "vocab.txt"),
        bert_config_file=os.path.join(folder, "config.json"),
        init_checkpoint=folder,
        max_seq_length=spec["seq_length"],
        doc_stride=spec["doc_stride"],
        predict_batch_size=spec["batch_size"],
        trim_padding=True,
    )
    config = checks.load_config(
        options.bert_config_file, options.max_seq_length
    )
    run = create_run(
        options,
        functools.partial(modeling.BertSpanLabeler, config),
        None,
        None,
    )

    def create_task():
        # A new tokenizer each time: it remembers words.
        task = run_squad.SquadTask(options)
        task.prepare(config, None)
        return task, Splits(task, options)

    if options.quantizes:
        batches = create_task()[1].create_dataset(
            "eval", options.predict_batch_size
        )
        run.trainer.quantize(batches, options.quantize_ranges == "static")

    def repeat(_):
        started = time.perf_counter()
        task, splits = create_task()
        windows = time.perf_counter() - started
        batches = fine_tuning.predict(
            run, splits, "eval", options.predict_batch_size
        )
        task.answer(batches)
        return {"windows_seconds": windows}

    features = create_task()[0].features
    flops = sum(
        costs.training_flops(config, sum(feature.input_mask)) / 3
        for feature in features
    )
    return worker.Work(repeat, len(features), flops)


def classify(spec):
    """A SavedModel's labels of sentences, by the Python that users call."""
    folder = Path(spec["minilm_dir"])
    path = os.path.join(spec["folder"], "model")
    model = modeling.BertClassifier(
        modeling.load_config(folder / "config.json"),
        2,
        dtype={"float32": "float32"}.get(spec["precision"], "mixed_bfloat16"),
    )
    model.build()
    if spec["precision"] == "int8":
        ids = np.random.default_rng(0).integers(1000, 20000, (32, 32))
        quantization.quantize(model, [{"input_ids": ids.astype("int32")}])
    options = serving.ServingOptions(folder / "vocab.txt")
    serving.export_classifier(path, model, ["no", "yes"], options)
    loaded = serving.load(path)
    rows = worker.mrpc_rows(spec)

    def repeat(num_steps):
        for batch in worker.batches_of_sentences(
            rows, num_steps, spec["batch_size"]
        ):
            loaded.classify(batch)

    return worker.Work(repeat, spec["batch_size"])


def matmul(_):
    """The machine's rate of a matrix product in each precision."""
    rates = ("float32", "bfloat16")
    return worker.Work(
        lambda _: {name: costs.matmul_rate(name) for name in rates}, 0
    )


def versions():
    """Returns the versions of what was timed."""
    return {"tensorflow": tf.__version__, "keras": keras.__version__}


if __name__ == "__main__":
    works = (pretrain, inference, mrpc, squad, classify, matmul)
    worker.serve({work.__name__: work for work in works}, versions)
