"""Runs a `FineTuningTask`: all stages of a command, and how it ends.

A command usually writes its scores, predictions, export, weights
and card. If its dev set is not the dev set of the run, it only shows the
scores.
"""

import os
import time
from collections.abc import Sequence

from absl import logging

from data.arrays import OutputsT
from data.io import record_checks
from data.sets.set_names import suffix_of
from model_folders.cards import example_calls
from model_folders.scores import Evaluation, Scores, merge_scores
from training.config.fine_tuning_config import FineTuningConfig
from training.dev_set.comparison import compare_dev_set
from training.fine_tuning.checked_export import export_model
from training.fine_tuning.encoded_sets import (
    fingerprint_sets,
    write_encoded_sets,
)
from training.fine_tuning.fine_tuner import FineTuner
from training.fine_tuning.plan import plan_fine_tuning
from training.loop import devices, final_stages
from training.loop.teacher_loading import load_teacher
from training.loop.trainer_loading import load_trainer
from training.preparation.start_checks import (
    check_start,
    check_task,
    warn_of_labels,
)
from training.run_files.result_files import log_scores
from training.run_files.run_folder import RunFolder
from training.task import AnyFineTuningTask, ContextT, ExampleT, FineTuningTask


def fine_tune(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Args:
        task: the task to train, which holds the StartingPoint.

    Raises:
        TrainingStopped: a signal ended the training. It ends the script.
        ValueError: a flag contradicts another flag or a file, a line of a set
            is malformed, or the dev set may not be used.
        OSError: a file is missing or cannot be written.
    """
    begin_time = time.time()
    starting_point = task.starting_point
    config = task.config
    strategy = devices.connect_devices(config.devices)
    check_start(starting_point)
    check_task(task)
    warn_of_labels(task)
    teacher = load_teacher(
        starting_point,
        task.create_model,
        label_alternatives=task.label_alternatives,
        output_mode=task.output_mode,
    )
    encoded_sets = write_encoded_sets(task, config.state_folder)
    set_fingerprints = fingerprint_sets(config, encoded_sets)
    dev_set_comparison = compare_dev_set(
        config,
        set_fingerprints,
        starting_point.preset,
        dev_set_rule=starting_point.dev_set_rule,
        is_own_run=starting_point.is_own_run,
    )
    dev_set_comparison.log_or_raise()
    plan = plan_fine_tuning(task, encoded_sets, set_fingerprints)
    trainer = load_trainer(
        starting_point, plan, strategy=strategy, teacher=teacher
    )
    fine_tuner = FineTuner(task, encoded_sets, trainer)
    records = [encoded_set.records for encoded_set in encoded_sets.values()]
    with record_checks.explain_record_errors(records):
        if plan.num_steps:
            fine_tuner.train(plan.num_steps)
        if dev_set_comparison.may_write_scores:
            end_with_scores(fine_tuner, begin_time)
        else:
            end_without_scores(fine_tuner)


def end_with_scores(
    fine_tuner: FineTuner[ExampleT, ContextT, OutputsT], begin_time: float
) -> None:
    """Evaluates the dev sets, and writes all that the flags ask for.

    All workers evaluate. Only the chief writes files.

    Args:
        fine_tuner: has the weights to evaluate.
        begin_time: time at which this command began, as time.time().
    """
    config = fine_tuner.task.config
    evaluation = None
    if config.training.do_eval:
        evaluation = _evaluate_dev_sets(fine_tuner)
    if not config.is_chief:
        return
    if config.training.do_eval:
        fine_tuner.write_dev_files()
    if config.fine_tuning.do_predict:
        evaluation = _predict_test_sets(fine_tuner, evaluation)
    dev_scores = evaluation.scores if evaluation else Scores()
    if export_dir := config.export.export_dir:
        export_model(fine_tuner, dev_scores, export_dir)
    final_stages.store_weights(fine_tuner.trainer, evaluation)
    _write_card(fine_tuner.run_folder, config, dev_scores)
    _log_end(fine_tuner, dev_scores, begin_time)


def end_without_scores(
    fine_tuner: FineTuner[ExampleT, ContextT, OutputsT],
) -> None:
    """Only shows the scores, and exports what the user asked for.

    The scores are on another dev set than the scores of the run. So the run's
    scores, card and report stay as they are.
    """
    starting_point = fine_tuner.task.starting_point
    config = fine_tuner.task.config
    log_scores(fine_tuner.evaluate_dev_sets())
    if not config.is_chief:
        return
    export_dir = config.export.export_dir
    # --data_file alone does not export again.
    if export_dir and "export_dir" in starting_point.set_by_user:
        export_model(fine_tuner, Scores(), export_dir)
    final_stages.store_weights(fine_tuner.trainer, None)


def _evaluate_dev_sets(
    fine_tuner: FineTuner[ExampleT, ContextT, OutputsT],
) -> Evaluation:
    """Evaluates the dev sets, and writes their scores."""
    logging.info("Evaluating %s", fine_tuner.run_weights.describe())
    evaluation = fine_tuner.evaluate_dev_sets()
    fine_tuner.run_folder.write_evaluation(evaluation)
    return evaluation


def _predict_test_sets(
    fine_tuner: FineTuner[ExampleT, ContextT, OutputsT],
    dev_evaluation: Evaluation | None,
) -> Evaluation | None:
    """Writes the predictions of the test sets, and their scores if known.

    A predicted set may be a dev set too, such as --predict_file of SQuAD. Its
    scores join those of the evaluation.

    Args:
        fine_tuner: has the weights to predict with.
        dev_evaluation: the evaluation of the dev sets, None if there is none.

    Returns:
        the evaluation of the dev sets, with the scores of those that were
        predicted.
    """
    task = fine_tuner.task
    run_folder = fine_tuner.run_folder
    run_weights = fine_tuner.run_weights
    step = run_weights.global_step
    logging.info("Predicting with %s", run_weights.describe())
    for test_set in fine_tuner.test_sets:
        scores = fine_tuner.write_and_score_predictions(test_set)
        if not scores.overall:
            # The right answers are unknown.
            continue
        if test_set.name in task.dev_sets:
            if dev_evaluation:
                scores = merge_scores(dev_evaluation.scores, scores)
            dev_evaluation = Evaluation(step, scores)
            run_folder.write_evaluation(dev_evaluation)
        else:
            run_folder.results.write_test_scores(
                Evaluation(step, scores), suffix_of(test_set.name)
            )
    return dev_evaluation


def _write_card(
    run_folder: RunFolder,
    config: FineTuningConfig,
    dev_scores: Scores,
) -> None:
    """Writes the card of a finished run. It contains no names of folders."""
    export = table = None
    if export_dir := config.export.export_dir:
        export = os.path.basename(export_dir.rstrip("/"))
        if export_dir == config.default_export_dir:
            # Named after --output_dir, which the card calls FOLDER.
            export = "FOLDER_model"
    if config.data_file:
        table = os.path.basename(config.data_file)
    run_folder.write_card(dev_scores, export=export, table=table)


def _log_end(
    fine_tuner: FineTuner[ExampleT, ContextT, OutputsT],
    dev_scores: Scores,
    begin_time: float,
) -> None:
    """Logs the scores, what the user should know, and the next commands."""
    task = fine_tuner.task
    run_folder = fine_tuner.run_folder
    if fine_tuner.has_trained:
        run_folder.results.warn_of_earlier_files(begin_time)
    _warn_of_missed_labels(task.config, dev_scores)
    final_stages.log_end(
        run_folder,
        score_lines=_list_dev_score_lines(task, dev_scores),
        commands=_list_export_commands(task),
        seconds=time.time() - begin_time,
    )


def _warn_of_missed_labels(
    config: FineTuningConfig, dev_scores: Scores
) -> None:
    """Warns of labels that a trained model finds in no example."""
    missing = [label.title for label in dev_scores.by_label if label.is_missed]
    if config.training.do_train and missing:
        logging.warning(
            "The model finds no example of %s in the dev set. Add examples, or "
            "set another --output_dir, --learning_rate=%g and "
            "--num_train_epochs=%g.",
            ", ".join(missing),
            2 * config.optimizer.learning_rate,
            2 * config.fine_tuning.num_train_epochs,
        )


def _list_dev_score_lines(
    task: AnyFineTuningTask, dev_scores: Scores
) -> list[str]:
    """Returns a line about the main score on the dev set, or [] if unknown."""
    metric = task.scoring.main_metric
    if metric not in dev_scores.overall:
        return []
    return [f"{metric} on the dev set: {dev_scores.overall[metric]:.4f}"]


def _list_export_commands(task: AnyFineTuningTask) -> Sequence[str]:
    """Returns commands that ask the exported model, [] without an export."""
    config = task.config
    return example_calls.list_example_commands(
        config.model_class,
        task.fixed_head_settings,
        export=config.export.export_dir,
        table=config.data_file,
    )
