"""Ends a command of fine-tuning: writes its predictions and its export."""

import os
import time
from collections.abc import Sequence

from absl import logging

from data.processors.set_names import suffix_of
from model_folders.cards import example_calls
from model_folders.scores import Scores, find_missed_labels
from training.config.fine_tuning_config import FineTuningConfig
from training.flows import run_ending
from training.flows.encoded_sets import select_sets
from training.flows.fine_tuning_evaluation import predict_set
from training.flows.fine_tuning_export import export_task
from training.loop.trainer import Evaluate, Trainer
from training.run_files.run_folder import RunFolder
from training.task import (
    AnyTask,
    EncodedSet,
    EncodedSets,
    ExampleT,
    OriginT,
    OutputsT,
    Task,
)


def finish_with_scores(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_sets: EncodedSets[ExampleT, OriginT],
    evaluate: Evaluate,
    *,
    begin_time: float,
    has_trained: bool,
) -> None:
    """Evaluates the dev sets, and writes all that the flags ask for.

    All workers evaluate. Only the chief writes files.

    Args:
        task: what was trained.
        trainer: the Trainer, with the weights to evaluate.
        encoded_sets: the sets of the command.
        evaluate: computes the scores of the dev sets.
        begin_time: time at which this command began, as time.time().
        has_trained: whether this command changed the weights.
    """
    results: Scores = {}
    if task.config.training.do_eval:
        results = run_ending.evaluate_at_the_end(trainer, evaluate)
    if task.config.is_chief:
        results = write_outputs(task, trainer, encoded_sets, results)
        finish_fine_tuning(
            task, trainer, results, begin_time, has_trained=has_trained
        )


def finish_without_scores(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_sets: EncodedSets[ExampleT, OriginT],
    evaluate: Evaluate,
) -> None:
    """Only shows the scores, and exports what the user asked for.

    The scores are on another dev set than the scores of the run. So the run's
    scores, card and report stay as they are.
    """
    trainer.run_folder.log_results(evaluate(trainer))
    if not task.config.is_chief:
        return
    export_dir = task.config.export.export_dir
    # --data_file alone does not export again.
    if export_dir and "export_dir" in task.start.set_by_user:
        export_task(task, trainer, encoded_sets, {}, export_dir)
    run_ending.store_weights(trainer)


def write_outputs(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_sets: EncodedSets[ExampleT, OriginT],
    results: Scores,
) -> Scores:
    """Writes the reports, the predictions and the export.

    Only the chief calls this function.

    Args:
        task: what was trained.
        trainer: the Trainer, with the weights to predict with and to export.
        encoded_sets: the sets of the command.
        results: scores of the dev sets, {} without an evaluation.

    Returns:
        the scores of the dev sets: `results`, and those of predicted sets that
        are also dev sets, such as --predict_file of SQuAD.
    """
    config = task.config
    if config.training.do_eval:
        _write_reports(task, trainer, encoded_sets)
    if config.fine_tuning.do_predict:
        results = _predict_test_sets(task, trainer, encoded_sets, results)
    if export_dir := config.export.export_dir:
        export_task(task, trainer, encoded_sets, results, export_dir)
    return results


def _write_reports(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_sets: EncodedSets[ExampleT, OriginT],
) -> None:
    """Writes the task's reports on the dev sets."""
    for encoded_set in select_sets(encoded_sets, task.dev_sets):
        batches = predict_set(
            task,
            trainer,
            encoded_set,
            batch_size=task.config.eval_batch_size,
            description="Reporting",
        )
        task.write_report(encoded_set, batches, str(trainer.run_folder.path))


def _predict_test_sets(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_sets: EncodedSets[ExampleT, OriginT],
    results: Scores,
) -> Scores:
    """Writes the predictions of the test sets, and their scores if known.

    The arguments and the returned scores are those of `write_outputs`.
    """
    logging.info("Predicting with %s", trainer.run_weights.describe())
    for encoded_set in select_sets(encoded_sets, task.test_sets):
        scores = _write_predictions(task, trainer, encoded_set)
        if not scores:
            # The right answers are unknown.
            continue
        scores["global_step"] = trainer.run_weights.global_step
        if encoded_set.name in task.dev_sets:
            results = results | scores
            run_ending.write_dev_scores(trainer, scores, results)
        else:
            trainer.run_folder.write_test_results(
                scores, suffix_of(encoded_set.name)
            )
    return results


def _write_predictions(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_set: EncodedSet[ExampleT, OriginT],
) -> Scores:
    """Writes the predictions of a set. Returns their scores, {} if unknown."""
    batches = predict_set(
        task,
        trainer,
        encoded_set,
        batch_size=task.config.fine_tuning.predict_batch_size,
        description="Predicting",
    )
    return task.write_predictions(
        encoded_set, batches, str(trainer.run_folder.path)
    )


def finish_fine_tuning(
    task: AnyTask,
    trainer: Trainer,
    results: Scores,
    begin_time: float,
    *,
    has_trained: bool,
) -> None:
    """Writes the weights and the card. Logs the scores and example commands.

    Only the chief calls this function.

    Args:
        task: names the main score, and the head for the commands.
        trainer: the Trainer, with the weights that `results` belong to.
        results: scores on the dev set, {} without an evaluation.
        begin_time: time at which this command began, as time.time().
        has_trained: whether this command changed the weights.
    """
    run_folder = trainer.run_folder
    run_ending.store_weights(trainer)
    _write_card(run_folder, task.config)
    if has_trained:
        run_folder.warn_of_earlier_results(begin_time)
    warn_of_missed_labels(task.config, results)
    run_ending.log_end(
        trainer,
        score_lines=_list_score_lines(task, results),
        commands=_list_commands(task),
        seconds=time.time() - begin_time,
    )


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


def warn_of_missed_labels(config: FineTuningConfig, results: Scores) -> None:
    """Warns of labels that a trained model finds in no example."""
    if config.training.do_train and (missing := find_missed_labels(results)):
        logging.warning(
            "The model finds no example of %s in the dev set. Add examples, or "
            "set another --output_dir, --learning_rate=%g and "
            "--num_train_epochs=%g.",
            ", ".join(missing),
            2 * config.optimizer.learning_rate,
            2 * config.fine_tuning.num_train_epochs,
        )


def _list_score_lines(task: AnyTask, results: Scores) -> list[str]:
    """Returns a line about the main score on the dev set, [] without one."""
    metric = task.metrics[0]
    if metric not in results:
        return []
    return [f"{metric} on the dev set: {results[metric]:.4f}"]


def _list_commands(task: AnyTask) -> Sequence[str]:
    """Returns commands that ask the exported model, [] without an export."""
    config = task.config
    return example_calls.list_example_commands(
        {**task.settings, "name": config.model_class},
        config.export.export_dir,
        config.data_file,
    )
