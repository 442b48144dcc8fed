"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import time

from data.io import record_checks
from training.flows import checks
from training.flows.dev_set_check import (
    check_dev_set,
    compare_dev_set,
)
from training.flows.encoded_sets import create_recorded_sets, write_encoded_sets
from training.flows.fine_tuning_ending import (
    end_with_scores,
    end_without_scores,
)
from training.flows.fine_tuning_plan import create_fine_tuning_plan
from training.flows.fine_tuning_run import FineTuningRun
from training.flows.teacher import load_teacher
from training.flows.trainer_setup import (
    check_can_export,
    create_trainer,
    set_seed_and_precision,
)
from training.loop import devices
from training.run_files.run_folder import RunFolder
from training.task import ExampleT, FineTuningTask, OriginT, OutputsT


def run(task: FineTuningTask[ExampleT, OriginT, OutputsT]) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Args:
        task: the task to train, which holds the StartingPoint.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing or cannot be written.
        SystemExit: a signal stopped the training.
    """
    begin_time = time.time()
    strategy = devices.connect_devices(task.config.devices)
    checks.check_files(task.start)
    checks.check_task(task)
    teacher = load_teacher(
        task.start,
        task.create_model,
        output_names=task.output_names,
        output_mode=task.settings.get("output_mode"),
    )
    run_folder = RunFolder.open(task.start, task.labels)
    encoded_sets = write_encoded_sets(task, run_folder.state_folder)
    recorded_sets = create_recorded_sets(task.config, encoded_sets)
    finding = compare_dev_set(task.start, recorded_sets)
    check_dev_set(finding)
    plan = create_fine_tuning_plan(task, encoded_sets, recorded_sets)
    set_seed_and_precision(task.config)
    trainer = create_trainer(
        task.start, run_folder, plan, strategy=strategy, teacher=teacher
    )
    check_can_export(task.config, trainer.model)
    trainer.run_weights.restore_or_load(
        task.output_names, prefers_best=task.config.loads_best
    )
    fine_tuning_run = FineTuningRun(
        task, encoded_sets, trainer, dev_set_checksum=plan.dev_set_checksum
    )
    records = [encoded_set.records for encoded_set in encoded_sets.values()]
    with record_checks.named_record_errors(records):
        if plan.num_steps:
            fine_tuning_run.train(plan.num_steps.training)
        if finding.case.writes_scores:
            end_with_scores(fine_tuning_run, begin_time)
        else:
            end_without_scores(fine_tuning_run)
