"""Exports a model's weights, for publishing or as initial weights."""

import keras
from absl import logging

import modeling
from data.text.tokenization import FullTokenizer
from files import manifests
from training.config import TrainingConfig


def export_weights(
    model: keras.Model,
    options: TrainingConfig,
    tokenizer: FullTokenizer | None,
) -> None:
    """Writes the model to --export_weights, if given, without optimizer slots.

    A path that ends in `.ckpt` is the checkpoint's prefix. Any other is a
    folder, laid out as the original's releases are: bert_model.ckpt,
    bert_config.json, vocab.txt, and labels.txt where the model has labels.

    Args:
        model: a built model of modeling/.
        options: TrainingConfig.
        tokenizer: FullTokenizer of the model; None where there is no
            vocabulary, as in pretraining on masked records.

    Raises:
        ValueError: the labels in the run's folder are not the model's.
        OSError: a file cannot be written.
    """
    path = options.export_weights
    if path is None:
        return
    if path.endswith(".ckpt"):
        folder, names = manifests.checkpoint_files(path)
        manifests.check(folder, names, f"--export_weights={path}")
        manifests.add(folder, names)
        modeling.save_checkpoint(model, path)
    else:
        modeling.save_release(
            model,
            path,
            tokenizer,
            modeling.load_labels(
                options.output_dir, getattr(model, "num_labels", None)
            ),
        )
    logging.info("Wrote the weights to %s", path)
