"""Converts a BERT between the original's checkpoints and Hugging Face's.

A folder as the original released them (bert_model.ckpt, bert_config.json,
vocab.txt) becomes one that transformers reads (model.safetensors,
config.json, vocab.txt), or the other way round; no weight changes.
"""

import os

import safetensors
import tensorflow as tf
from absl import flags, logging

import modeling
from files import paths
from modeling.checkpoints import huggingface
from training import cli

FLAGS = flags.FLAGS

# By the name that --model takes: our class, Hugging Face's names of it.
MODELS = {
    "bert": (modeling.BertModel, ["BertModel"]),
    "pretraining": (
        modeling.BertPretrainer,
        ["BertForPreTraining", "BertForMaskedLM"],
    ),
    "classifier": (modeling.BertClassifier, ["BertForSequenceClassification"]),
    "squad": (modeling.BertSpanLabeler, ["BertForQuestionAnswering"]),
    "token_classifier": (
        modeling.BertTokenClassifier,
        ["BertForTokenClassification"],
    ),
    "multiple_choice": (
        modeling.BertMultipleChoice,
        ["BertForMultipleChoice"],
    ),
}


def define_flags():
    """Defines what to convert, and to what."""
    cli.define_path(
        "init_checkpoint",
        paths.Kind.MODEL,
        "Checkpoint to convert: the prefix of a TF1 checkpoint, or a Hugging "
        "Face folder or .safetensors file.",
    )
    cli.define_path(
        "output_dir",
        paths.Kind.MODEL_OUTPUT,
        "Folder to write; made where there is none.",
    )
    flags.DEFINE_enum(
        "output_format",
        None,
        ["tf1", "huggingface"],
        "Kind to write; by default the one that --init_checkpoint is not.",
    )
    cli.define_path(
        "bert_config_file",
        paths.Kind.MODEL,
        "The model's configuration; by default the one beside the checkpoint.",
    )
    cli.define_path(
        "vocab_file",
        paths.Kind.INPUT_FILE,
        "Vocabulary to copy; by default vocab.txt beside the checkpoint, "
        "where there is one.",
    )
    flags.DEFINE_enum(
        "model",
        None,
        list(MODELS),
        "What the checkpoint's head is for; by default what config.json or "
        "the names of the weights say.",
    )


def read_shapes(checkpoint):
    """Returns {name in the file: shape} of a checkpoint.

    Raises:
        OSError: it cannot be read.
    """
    try:
        if not huggingface.is_huggingface(checkpoint):
            return dict(tf.train.list_variables(checkpoint))
        with safetensors.safe_open(checkpoint, framework="np") as file:
            return {
                name: file.get_slice(name).get_shape() for name in file.keys()
            }
    except (safetensors.SafetensorError, tf.errors.OpError) as error:
        raise OSError(f"{checkpoint} cannot be read: {error}") from error


def find_model(checkpoint, config_file, names):
    """Returns the key of MODELS that a checkpoint is of.

    Args:
        checkpoint: its path.
        config_file: its configuration.
        names: those of its weights.

    Raises:
        ValueError: neither config.json nor the names say.
    """
    if FLAGS.model:
        return FLAGS.model
    for architecture in huggingface.read_architectures(config_file):
        for name, (_, architectures) in MODELS.items():
            if architecture in architectures:
                return name
        raise ValueError(
            f"{config_file} is of {architecture}, which has no counterpart "
            f"here; give --model, one of {', '.join(MODELS)}, to convert the "
            "part that has"
        )
    heads = {name for name in names if not name.startswith("bert")}
    if any(name.startswith(("output_", "classifier.")) for name in heads):
        raise ValueError(
            f"{checkpoint} does not say what its output weights are for; give "
            "--model=classifier, token_classifier or multiple_choice"
        )
    if any(name.startswith(("cls/squad/", "qa_outputs.")) for name in heads):
        return "squad"
    if any(name.startswith(("cls/", "cls.")) for name in heads):
        return "pretraining"
    return "bert"


def create_model(name, config, shapes):
    """Returns a model with as many labels as the checkpoint has."""
    create, _ = MODELS[name]
    if name not in ("classifier", "token_classifier"):
        return create(config)
    for weights in ("output_weights", "classifier.weight"):
        if weights in shapes:
            return create(config, shapes[weights][0])
    raise ValueError(
        f"--model={name}: the checkpoint has neither output_weights nor "
        "classifier.weight; give --model=bert to convert the encoder alone"
    )


def load_model(checkpoint):
    """Returns the model, and the names of weights that it lacks.

    Raises:
        ValueError: the checkpoint is not of a model here.
        OSError: it cannot be read.
    """
    config_file = FLAGS.bert_config_file or os.path.dirname(checkpoint) or "."
    config = modeling.load_config(config_file)
    shapes = read_shapes(checkpoint)
    name = find_model(checkpoint, config_file, shapes)
    model = create_model(name, config, shapes)
    report = modeling.load_checkpoint(model, checkpoint)
    heads = {
        weight
        for weight in modeling.named_variables(model)
        if weight.startswith(("cls/", "output_"))
    }
    if heads and heads <= set(report.missing):
        raise ValueError(
            f"{checkpoint} has no weights for --model={name}; give "
            "--model=bert to convert the encoder alone"
        )
    logging.info("Read a %s model of %d weights", name, len(report.loaded))
    if report.missing:
        logging.warning("Not there, and left out: %s", report.missing)
    if report.unused:
        logging.warning("There, and left out: %s", report.unused)
    return model, report.missing


def check_flags():
    """Returns the checkpoint's file or prefix, after a look at the flags.

    Raises:
        OSError: the checkpoint is not there.
        ValueError: it is of a kind that cannot be read.
    """
    path = FLAGS.init_checkpoint
    for name in ("pytorch_model.bin", "model.safetensors.index.json"):
        if os.path.isfile(os.path.join(path, name)) and not (
            huggingface.is_huggingface(path)
        ):
            raise ValueError(
                f"--init_checkpoint={path} holds {name}; save the model as "
                "one model.safetensors with transformers first"
            )
    return modeling.find_checkpoint(path)


def main(_):
    """Converts one checkpoint."""
    checkpoint = check_flags()
    output_format = FLAGS.output_format
    if output_format is None:
        is_theirs = huggingface.is_huggingface(checkpoint)
        output_format = "tf1" if is_theirs else "huggingface"
    model, missing = load_model(checkpoint)
    labels = None
    if hasattr(model, "num_labels"):
        labels = modeling.load_labels(checkpoint)
    vocab_file = FLAGS.vocab_file
    beside = os.path.join(os.path.dirname(checkpoint), "vocab.txt")
    if vocab_file is None and os.path.isfile(beside):
        vocab_file = beside
    save = {
        "tf1": modeling.save_release,
        "huggingface": modeling.save_huggingface,
    }[output_format]
    save(
        model,
        FLAGS.output_dir,
        vocab_file=vocab_file,
        labels=labels,
        leave_out=missing,
    )
    logging.info("Wrote %s", FLAGS.output_dir)


if __name__ == "__main__":
    cli.run(main, define_flags, ("init_checkpoint", "output_dir"))
