"""A model's weights alone, to give away or to start another task from."""

import shutil
from pathlib import Path

from absl import logging

import modeling
from training import checkpointing


def export_weights(model, options):
    """Writes the model to --export_weights, without the optimizer's slots.

    A path that ends in `.ckpt` is the checkpoint's prefix. Any other is a
    folder, laid out as the original's releases are: bert_model.ckpt,
    bert_config.json, vocab.txt, and labels.txt where the model has labels.

    Args:
        model: a built model of modeling/.
        options: the script's flag values.

    Raises:
        OSError: a file cannot be written.
    """
    path = Path(options.export_weights)
    is_prefix = path.suffix == ".ckpt"
    prefix = path if is_prefix else path / "bert_model.ckpt"
    modeling.save_checkpoint(model, prefix)
    if not is_prefix:
        checkpointing.write_text(
            path / "bert_config.json", model.config.to_json_string()
        )
        # Pretraining reads records, and has no vocabulary.
        if vocab_file := getattr(options, "vocab_file", None):
            shutil.copyfile(vocab_file, path / "vocab.txt")
        if labels := modeling.load_labels(options.output_dir):
            modeling.save_labels(path, labels)
    logging.info("Wrote the weights to %s", prefix)
