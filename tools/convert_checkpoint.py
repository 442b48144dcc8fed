"""Converts a BERT between the original's checkpoints and Hugging Face's.

A folder as the original released them (bert_model.ckpt, bert_config.json,
vocab.txt) becomes one that transformers reads (model.safetensors, config.json,
vocab.txt and the tokenizer's other files), or the other way round; no weight
changes. With --extended_vocab_file the model gets rows for new words.
"""

import functools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from absl import flags, logging

import modeling
from data.text import tokenization, vocabulary
from files import paths
from training.command_line import cli

if TYPE_CHECKING:
    import keras

FLAGS = flags.FLAGS

# Values of --model: our class, and Hugging Face's names for it.
MODELS = {
    "bert": ("BertModel", ["BertModel"]),
    "pretraining": (
        "BertPretrainer",
        ["BertForPreTraining", "BertForMaskedLM"],
    ),
    "classifier": ("BertClassifier", ["BertForSequenceClassification"]),
    "squad": ("BertSpanLabeler", ["BertForQuestionAnswering"]),
    "token_classifier": (
        "BertTokenClassifier",
        ["BertForTokenClassification"],
    ),
    "multiple_choice": (
        "BertMultipleChoice",
        ["BertForMultipleChoice"],
    ),
}


def define_flags() -> None:
    """Defines the flags."""
    cli.define_path(
        "init_checkpoint",
        paths.Kind.MODEL,
        "Checkpoint to convert: the prefix of a TF1 checkpoint, or a Hugging "
        "Face folder or .safetensors file. Nothing is downloaded.",
    )
    cli.define_path(
        "output_dir",
        paths.Kind.MODEL_OUTPUT,
        "Folder to write; created if missing.",
    )
    flags.DEFINE_enum(
        "output_format",
        None,
        ["tf1", "huggingface"],
        "Format to write. Default: the format --init_checkpoint is not in; "
        "its own format with --extended_vocab_file.",
    )
    cli.define_path(
        "bert_config_file",
        paths.Kind.MODEL,
        "The model's configuration; by default the one next to the checkpoint.",
    )
    cli.define_path(
        "vocab_file",
        paths.Kind.INPUT_FILE,
        "The model's vocabulary; by default vocab.txt next to the checkpoint. "
        "Needed for --output_format=huggingface.",
    )
    cli.define_path(
        "extended_vocab_file",
        paths.Kind.INPUT_FILE,
        "Vocabulary of create_vocabulary.py --extend: write the model with a "
        "row for each of its words; a new word starts as the mean of its "
        "former WordPieces.",
    )
    flags.DEFINE_bool(
        "do_lower_case",
        None,
        "Whether transformers' tokenizer lower-cases text: True for uncased "
        "models. By default as in the tokenizer_config.json next to the "
        "checkpoint, else True if the vocabulary has no upper-case letters.",
    )
    flags.DEFINE_enum(
        "model",
        None,
        list(MODELS),
        "Task of the checkpoint's head; by default read from config.json or "
        "the names of the weights.",
    )


def find_model(
    checkpoint: str, config_file: str, names: Collection[str]
) -> str:
    """Returns the key of MODELS for a checkpoint.

    Args:
        checkpoint: its path.
        config_file: its configuration.
        names: those of its weights.

    Raises:
        ValueError: neither config.json nor the names decide it.
    """
    for architecture in modeling.huggingface.read_architectures(config_file):
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


def create_model(
    name: str,
    config: "modeling.BertConfig",
    checkpoint: str,
    shapes: Mapping[str, Sequence[int]],
) -> "keras.Model":
    """Returns a model with as many labels as the checkpoint has.

    Args:
        name: key of MODELS.
        config: its configuration.
        checkpoint: its path, for messages.
        shapes: what `modeling.read_shapes` gave.

    Raises:
        ValueError: the checkpoint has no output weights.
    """
    class_name, _ = MODELS[name]
    create = getattr(modeling, class_name)
    if name not in ("classifier", "token_classifier"):
        return create(config)
    for weights in ("output_weights", "classifier.weight"):
        if weights not in shapes:
            continue
        shape = list(shapes[weights])
        if len(shape) != 2 or not shape[0]:
            raise ValueError(
                f"{weights} in {checkpoint} has shape {shape}, and must be "
                "[labels, hidden_size]; give --model=bert to convert the "
                "encoder alone"
            )
        return create(config, shape[0])
    raise ValueError(
        f"--model={name}: {checkpoint} has neither output_weights nor "
        "classifier.weight; give --model=bert to convert the encoder alone"
    )


def load_weights(model: "keras.Model", checkpoint: str, name: str) -> list[str]:
    """Loads the model's weights; returns the names of those that are missing.

    Raises:
        ValueError: the checkpoint is of another kind of model.
        OSError: it cannot be read.
    """
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
    if report.missing:
        logging.warning("Missing from checkpoint: %s", report.missing)
    if report.unused:
        logging.warning("Unused checkpoint entries: %s", report.unused)
    return report.missing


def find_vocab(
    vocab_file: str | None,
    checkpoint: str,
    output_format: str,
    config: "modeling.BertConfig",
) -> str | None:
    """Returns the model's vocabulary, checked; None where none is needed.

    Args:
        vocab_file: --vocab_file; None = vocab.txt next to the checkpoint.
        checkpoint: its file or prefix.
        output_format: "tf1" or "huggingface".
        config: the model's configuration.

    Raises:
        OSError: it cannot be read.
        ValueError: it does not belong to the model, or there is none and
            transformers would make one up.
    """
    if vocab_file is None:
        vocab_file = os.path.join(os.path.dirname(checkpoint), "vocab.txt")
        if not os.path.isfile(vocab_file):
            if output_format == "huggingface":
                raise ValueError(
                    f"there is no {vocab_file}, and without a vocabulary "
                    "transformers makes up one of 5 tokens; give --vocab_file"
                )
            logging.warning(
                "There is no %s; give --vocab_file to have a vocabulary copied",
                vocab_file,
            )
            return None
    tokenization.check_vocab(vocab_file, config.vocab_size)
    return vocab_file


def find_casing(do_lower_case: bool | None, checkpoint: str) -> bool | None:
    """Returns whether text is lower-cased; None to decide by the vocabulary.

    Args:
        do_lower_case: --do_lower_case.
        checkpoint: its file or prefix.

    Raises:
        ValueError: --do_lower_case contradicts the checkpoint's name.
    """
    if do_lower_case is None:
        return modeling.huggingface.read_do_lower_case(checkpoint)
    tokenization.validate_case_matches_checkpoint(do_lower_case, checkpoint)
    return do_lower_case


def find_extension(vocab_file: str | None) -> list[list[int]] | None:
    """Returns the rows of --extended_vocab_file, None without it.

    Args:
        vocab_file: the model's vocabulary.

    Raises:
        OSError: a file cannot be read.
        ValueError: there is no vocabulary, or the other does not extend it.
    """
    extended_file = FLAGS.extended_vocab_file
    if extended_file is None:
        return None
    if vocab_file is None:
        raise ValueError(
            "--extended_vocab_file needs --vocab_file, the vocabulary that it "
            "extends"
        )
    tokenization.check_vocab(extended_file)
    try:
        return vocabulary.extension_rows(
            *map(tokenization.read_vocab, (vocab_file, extended_file))
        )
    except ValueError as error:
        raise ValueError(
            f"--extended_vocab_file={extended_file} does not extend "
            f"{vocab_file}: {error}"
        ) from None


def check_flags() -> str:
    """Checks the flags and returns the checkpoint's file or prefix.

    Raises:
        OSError: the checkpoint is not there.
        ValueError: its format cannot be read.
    """
    path = FLAGS.init_checkpoint
    for name in ("pytorch_model.bin", "model.safetensors.index.json"):
        if os.path.isfile(os.path.join(path, name)) and not (
            modeling.huggingface.is_huggingface(path)
        ):
            raise ValueError(
                f"--init_checkpoint={path} holds {name}; save the model as "
                "one model.safetensors with transformers first"
            )
    return modeling.find_checkpoint(path)


def main(_: Sequence[str]) -> None:
    """Converts one checkpoint; all checks come before the first write."""
    checkpoint = check_flags()
    output_format = FLAGS.output_format
    if output_format is None:
        is_theirs = modeling.huggingface.is_huggingface(checkpoint)
        if FLAGS.extended_vocab_file:
            # Keep the format, unless asked otherwise.
            is_theirs = not is_theirs
        output_format = "tf1" if is_theirs else "huggingface"
    config_file = FLAGS.bert_config_file or os.path.dirname(checkpoint) or "."
    config = modeling.load_config(config_file)
    shapes = modeling.read_shapes(checkpoint)
    name = FLAGS.model or find_model(checkpoint, config_file, shapes)
    model = create_model(name, config, checkpoint, shapes)
    labels = None
    if hasattr(model, "num_labels"):
        labels = modeling.load_labels(checkpoint, model.num_labels)
    vocab_file = find_vocab(FLAGS.vocab_file, checkpoint, output_format, config)
    casing = find_casing(FLAGS.do_lower_case, checkpoint)
    rows = find_extension(vocab_file)
    leave_out = load_weights(model, checkpoint, name)
    if rows is not None:
        model = modeling.extend_model(model, rows)
        vocab_file = FLAGS.extended_vocab_file
    save: Callable[..., None] = modeling.save_release
    if output_format == "huggingface":
        save = functools.partial(
            modeling.save_huggingface, do_lower_case=casing
        )
    save(
        model,
        FLAGS.output_dir,
        vocab_file=vocab_file,
        labels=labels,
        leave_out=leave_out,
    )
    logging.info("Wrote %s", FLAGS.output_dir)


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, define_flags, ("init_checkpoint", "output_dir"))


if __name__ == "__main__":
    command()
