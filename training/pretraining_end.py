"""Logs whether pretraining learned anything, and names the next commands."""

import shlex
from collections.abc import Mapping

import numpy as np
from absl import logging

from model_folders import kinds
from model_folders.cards import example_calls
from model_folders.model_entries import HeadSettings
from training.pretraining_config import PretrainingConfig
from training.start import StartingPoint

# A run of fewer steps is a trial, of which nobody expects anything.
_FEWEST_STEPS = 100
# Smallest difference between the accuracies of a model that learns something
# and of one that does not.
_LEAST_GAIN = 0.01


class MaskedCounts:
    """Counts the masked WordPieces of an evaluation by their ids."""

    def __init__(self) -> None:
        self._counts: np.ndarray = np.zeros(0)

    def add(self, features: Mapping[str, np.ndarray]) -> None:
        """Counts the masked WordPieces of a batch."""
        ids = features["masked_lm_ids"].ravel()
        weights = features["masked_lm_weights"].ravel()
        size = max(len(self._counts), int(ids.max(initial=0)) + 1)
        before = np.pad(self._counts, (0, size - len(self._counts)))
        self._counts = before + np.bincount(ids, weights, minlength=size)

    @property
    def guess(self) -> float:
        """Accuracy of guessing the most frequent of the WordPieces."""
        total = self._counts.sum()
        return float(self._counts.max() / total) if total else 0.0


def warn_of_no_progress(results: Mapping[str, float], guess: float) -> None:
    """Logs a warning if the masked LM is not better than a guess.

    Whatever it is trained on, a model first learns how frequent each WordPiece
    is, within some hundred steps. Its loss falls meanwhile, and its accuracy
    becomes that of always guessing the most frequent WordPiece. Only a model
    that reads the other words gets beyond, and one that diverged never does. So
    compare with this guess, not with the start, which may be a trained model.

    Args:
        results: scores of the evaluation after the training.
        guess: accuracy of always guessing the most frequent WordPiece.
    """
    accuracy = results["masked_lm_accuracy"]
    step = results["global_step"]
    if step >= _FEWEST_STEPS and accuracy < guess + _LEAST_GAIN:
        logging.warning(
            "After %d steps, masked_lm_accuracy is %.4f, and guessing the most "
            "frequent WordPiece reaches %.4f: the model has not learned from "
            "the context yet. Train for more steps, or with another "
            "--learning_rate.",
            step,
            accuracy,
            guess,
        )


def list_score_lines(results: Mapping[str, float]) -> list[str]:
    """Returns a line for each main score, [] without an evaluation."""
    return [
        f"{name}: {results[name]:.4f}"
        for name in ("masked_lm_accuracy", "next_sentence_accuracy")
        if name in results
    ]


def list_commands(start: StartingPoint[PretrainingConfig]) -> list[str]:
    """Returns commands that fine-tune, export or ask the model."""
    config = start.config
    folder = shlex.quote(config.training.output_dir)
    has_tokenizer = start.tokenizer is not None
    lines = []
    if config.training.do_train:
        vocabulary = "" if has_tokenizer else " --vocab_file=VOCAB"
        model = f"--init_checkpoint={folder}{vocabulary}"
        lines += [
            f"python run_classifier.py --data_file=TABLE {model} "
            "--output_dir=OUTPUT",
            f"python run_ner.py --data_file=FILE {model} --output_dir=OUTPUT",
        ]
    export = config.export.export_dir
    if config.training.do_train and has_tokenizer and not export:
        lines.append(
            f"python -m tools.export --model={folder} --export_dir=OUT"
        )
    elif has_tokenizer:
        settings: HeadSettings = {"name": kinds.PRETRAINER}
        lines += example_calls.list_commands(settings, export)
    return lines
