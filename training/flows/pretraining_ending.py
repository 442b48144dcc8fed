"""Ends a command of pretraining: writes its files, and logs what to know."""

import shlex
import time
from collections.abc import Mapping

from absl import logging

import serving
from model_folders import kinds
from model_folders.cards import example_calls
from model_folders.model_json_types import HeadSettings
from model_folders.scores import Scores
from training.config.pretraining_config import PretrainingConfig
from training.flows import run_ending
from training.loop.trainer import Trainer
from training.preparation.starting_point import StartingPoint

# A run of fewer steps is a trial, of which nobody expects anything.
_MIN_STEPS = 100
# Smallest difference between the accuracies of a model that learns something
# and of one that does not.
_MIN_GAIN = 0.01


def end_pretraining(
    start: StartingPoint[PretrainingConfig],
    trainer: Trainer,
    scores: Scores,
    begin_time: float,
    baseline_accuracy: float,
) -> None:
    """Writes the export, the weights and the card, and logs what to know.

    Args:
        start: StartingPoint of the command.
        trainer: the Trainer, with the weights to export.
        scores: scores of the evaluation, {} without an evaluation.
        begin_time: time at which this command began, as time.time().
        baseline_accuracy: accuracy of always guessing the most frequent
            WordPiece.
    """
    config = start.config
    if export_dir := config.export.export_dir:
        # The export accepts text if the vocabulary is set.
        options = run_ending.create_export_options(
            start, trainer.run_folder, config.pretraining.max_seq_length
        )
        serving.export(export_dir, trainer.model, {}, options)
    run_ending.store_weights(trainer)
    trainer.run_folder.write_card()
    if scores and config.training.do_train:
        warn_of_no_progress(scores, baseline_accuracy)
    run_ending.log_end(
        trainer.run_folder,
        score_lines=_list_score_lines(scores),
        commands=_list_commands(start),
        seconds=time.time() - begin_time,
    )


def warn_of_no_progress(
    scores: Mapping[str, float], baseline_accuracy: float
) -> None:
    """Logs a warning if the masked LM is not better than a guess.

    On any text, a model first learns how frequent each WordPiece is, within
    some hundred steps. Its loss falls meanwhile, and its accuracy becomes that
    of always guessing the most frequent WordPiece. Only a model that reads the
    other words gets beyond this accuracy, and a model that diverged never does.
    So compare with this guess, not with the first weights, which may be those
    of a trained model.

    Args:
        scores: scores of the evaluation after the training.
        baseline_accuracy: accuracy of always guessing the most frequent
            WordPiece.
    """
    accuracy = scores["masked_lm_accuracy"]
    step = scores["global_step"]
    if step >= _MIN_STEPS and accuracy < baseline_accuracy + _MIN_GAIN:
        logging.warning(
            "After %d steps, masked_lm_accuracy is %.4f, and guessing the most "
            "frequent WordPiece reaches %.4f: the model has not learned from "
            "the context yet. Train for more steps, or with another "
            "--learning_rate.",
            step,
            accuracy,
            baseline_accuracy,
        )


def _list_score_lines(scores: Mapping[str, float]) -> list[str]:
    """Returns a line for each main score, [] without an evaluation."""
    return [
        f"{name}: {scores[name]:.4f}"
        for name in ("masked_lm_accuracy", "next_sentence_accuracy")
        if name in scores
    ]


def _list_commands(start: StartingPoint[PretrainingConfig]) -> list[str]:
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
        lines += example_calls.list_example_commands(settings, export)
    return lines
