"""The two ways in which a command of fine-tuning ends.

A command usually writes its scores, predictions, export, weights and card. If
it scored another dev set than that of the run, it only shows the scores.
"""

import os
import time
from collections.abc import Sequence

from absl import logging

from data.sets.set_names import suffix_of
from model_folders.cards import example_calls
from model_folders.scores import Scores, find_missed_labels
from training.config.fine_tuning_config import FineTuningConfig
from training.flows import run_ending
from training.flows.fine_tuning_export import export_model
from training.flows.fine_tuning_run import AnyFineTuningRun
from training.run_files.run_folder import RunFolder, log_scores
from training.task import AnyTask


def end_with_scores(run: AnyFineTuningRun, begin_time: float) -> None:
    """Evaluates the dev sets, and writes all that the flags ask for.

    All workers evaluate. Only the chief writes files.

    Args:
        run: the run, with the weights to evaluate.
        begin_time: time at which this command began, as time.time().

    Raises:
        OSError: a file cannot be written.
        ValueError: the export scores lower than --max_export_loss allows.
    """
    config = run.task.config
    dev_scores: Scores = {}
    if config.training.do_eval:
        dev_scores = run_ending.evaluate_and_write_scores(
            run.trainer, run.evaluate, run.dev_set_checksum
        )
    if not config.is_chief:
        return
    if config.training.do_eval:
        run.write_reports()
    if config.fine_tuning.do_predict:
        dev_scores = _predict_test_sets(run, dev_scores)
    if export_dir := config.export.export_dir:
        export_model(run, dev_scores, export_dir)
    run_ending.store_weights(run.trainer)
    _write_card(run.trainer.run_folder, config)
    if run.has_trained:
        run.trainer.run_folder.results.warn_of_earlier_files(begin_time)
    warn_of_missed_labels(config, dev_scores)
    run_ending.log_end(
        run.trainer.run_folder,
        score_lines=_list_score_lines(run.task, dev_scores),
        commands=_list_commands(run.task),
        seconds=time.time() - begin_time,
    )


def end_without_scores(run: AnyFineTuningRun) -> None:
    """Only shows the scores, and exports what the user asked for.

    The scores are on another dev set than the scores of the run. So the run's
    scores, card and report stay as they are.

    Raises:
        OSError: a file cannot be written.
    """
    log_scores(run.evaluate())
    if not run.task.config.is_chief:
        return
    export_dir = run.task.config.export.export_dir
    # --data_file alone does not export again.
    if export_dir and "export_dir" in run.task.start.set_by_user:
        export_model(run, {}, export_dir)
    run_ending.store_weights(run.trainer)


def _predict_test_sets(run: AnyFineTuningRun, dev_scores: Scores) -> Scores:
    """Writes the predictions of the test sets, and their scores if known.

    Args:
        run: the run, with the weights to predict with.
        dev_scores: scores of the dev sets, {} without an evaluation.

    Returns:
        `dev_scores`, and the scores of predicted sets that are also dev sets,
        such as --predict_file of SQuAD.
    """
    trainer = run.trainer
    logging.info("Predicting with %s", trainer.run_weights.describe())
    for test_set in run.test_sets:
        scores = run.write_and_score_predictions(test_set)
        if not scores:
            # The right answers are unknown.
            continue
        scores["global_step"] = trainer.run_weights.global_step
        if test_set.name in run.task.dev_sets:
            dev_scores = dev_scores | scores
            run_ending.write_dev_scores(
                trainer, dev_scores, run.dev_set_checksum
            )
        else:
            trainer.run_folder.results.write_test_scores(
                scores, suffix_of(test_set.name)
            )
    return dev_scores


def _write_card(run_folder: RunFolder, config: FineTuningConfig) -> None:
    """Writes the card of a finished run. It contains no names of folders."""
    export = table = None
    if export_dir := config.export.export_dir:
        export = os.path.basename(export_dir.rstrip("/"))
        if export_dir == config.default_export_dir:
            # Named after --output_dir, which the card calls FOLDER.
            export = "FOLDER_model"
    if config.data_file:
        table = os.path.basename(config.data_file)
    run_folder.write_card(export=export, table=table)


def warn_of_missed_labels(config: FineTuningConfig, dev_scores: Scores) -> None:
    """Warns of labels that a trained model finds in no example."""
    missing = find_missed_labels(dev_scores)
    if config.training.do_train and missing:
        logging.warning(
            "The model finds no example of %s in the dev set. Add examples, or "
            "set another --output_dir, --learning_rate=%g and "
            "--num_train_epochs=%g.",
            ", ".join(missing),
            2 * config.optimizer.learning_rate,
            2 * config.fine_tuning.num_train_epochs,
        )


def _list_score_lines(task: AnyTask, dev_scores: Scores) -> list[str]:
    """Returns a line about the main score on the dev set, [] without one."""
    metric = task.metrics[0]
    if metric not in dev_scores:
        return []
    return [f"{metric} on the dev set: {dev_scores[metric]:.4f}"]


def _list_commands(task: AnyTask) -> Sequence[str]:
    """Returns commands that ask the exported model, [] without an export."""
    config = task.config
    return example_calls.list_example_commands(
        {**task.settings, "name": config.model_class},
        config.export.export_dir,
        config.data_file,
    )
