"""Runs of which only the settings are recorded, as a run does at its start.

For example:

    start_or_resume(tmp_path, {"task_name": "mrpc"})
"""

from collections.abc import Sequence
from pathlib import Path

import modeling
from files import json_files
from model_folders import model_json
from model_folders.model_json_types import TrainingSettings
from model_folders.reading import folder_reading
from modeling.base_task_model import AnyTaskModel
from tests.support import models
from tests.support.tasks import toy_task
from training.config.fine_tuning_config import FineTuningConfig
from training.preparation.resume_checks import check_resumed_settings
from training.run_files.model_description import create_training_settings
from training.run_files.run_folder import RunFolder

# Records of a dev set, as a run records them: (name, size, checksum).
RECORDS = [["eval.tfrecord", 5, 1]]


def touch_checkpoint(folder: Path) -> Path:
    """Makes a folder one with a checkpoint, so that its settings count."""
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
    folder: Path, training_settings: TrainingSettings, **flags: object
) -> None:
    """Checks settings against those of a run, if it has any; records them."""
    config = toy_task.create_config(folder, max_seq_length=8, **flags)
    own_run = None
    read = folder_reading.read_preset(folder, "--output_dir")
    # Without this file, the run begins.
    if (folder / model_json.MODEL_JSON_FILE).exists():
        own_run = read
    training_settings = create_training_settings(
        config, own_run, training_settings
    )
    check_resumed_settings(config, own_run, training_settings)
    bert_config = modeling.BertConfig(**models.TINY)
    begin_run(
        config, modeling.BertClassifier(bert_config, 2), training_settings
    )
