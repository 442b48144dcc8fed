"""Runs of which only the settings are recorded, as a run does at its start.

For example:

    start_or_resume(tmp_path / "run", head_settings={"task_name": "mrpc"})
"""

from collections.abc import Sequence
from pathlib import Path

import modeling
from files import json_files
from model_folders import model_json
from model_folders.head_settings import HeadSettings
from model_folders.training_settings import TrainingSettings
from modeling.base_task_model import AnyTaskModel
from tests.support.tasks import toy_task
from training.config.fine_tuning_config import FineTuningConfig
from training.fine_tuning.encoded_sets import (
    fingerprint_sets,
    write_encoded_sets,
)
from training.fine_tuning.plan import plan_fine_tuning
from training.run_files.run_folder import RunFolder

# Records of a dev set, as a run records them: (name, size, checksum).
RECORDS = [["eval.tfrecord", 5, 1]]


def touch_checkpoint(folder: Path) -> Path:
    """Makes a folder one with a checkpoint, so that its settings count."""
    folder.mkdir(exist_ok=True)
    for end in ("index", "data-00000-of-00001"):
        (folder / f"model.ckpt-1.{end}").touch()
    return folder


def write_left_to_right_run(folder: Path) -> Path:
    """Writes the folder of a run that was trained with --left_to_right."""
    folder.mkdir()
    provenance = {"settings": {"seed": 1, "left_to_right": True}}
    json_files.write_json(
        folder / model_json.MODEL_JSON_FILE,
        {"version": 1, "origin": provenance},
    )
    (folder / "model.ckpt-3.index").touch()
    return folder


def begin_run(
    config: FineTuningConfig,
    model: AnyTaskModel,
    training_settings: TrainingSettings,
    labels: Sequence[str] | None = None,
) -> None:
    """Describes a model in a run's folder, as the start of a run does."""
    starting_point = toy_task.create_starting_point(config, model.config)
    run_folder = RunFolder.open(starting_point, labels)
    run_folder.write_description_and_card(model, training_settings)


def start_or_resume(
    folder: Path, head_settings: HeadSettings, **flags: object
) -> None:
    """Plans a run with a task's settings, records them, and saves no weights.

    The command resumes the run in the folder, if it has one.
    """
    starting_point = toy_task.load_toy_starting_point(
        folder,
        **{"do_train": True, "max_seq_length": 8, "train_batch_size": 4}
        | flags,
    )
    task = toy_task.ToyTask(starting_point, fixed_head_settings=head_settings)
    encoded_sets = write_encoded_sets(task, task.config.state_folder)
    set_fingerprints = fingerprint_sets(task.config, encoded_sets)
    plan = plan_fine_tuning(task, encoded_sets, set_fingerprints)
    model = modeling.BertClassifier(starting_point.bert_config, 2)
    begin_run(task.config, model, plan.training_settings)
    touch_checkpoint(folder)
