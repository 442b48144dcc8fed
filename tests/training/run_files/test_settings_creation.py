"""Runs are told apart by their settings, and files by their checksums."""

import dataclasses
import json
import shutil

import h5py
import pytest

import modeling
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from tests.support.models import TINY, built
from tests.support.paths import ROOT
from tests.support.tasks import toy_task
from training.preparation import resume_checks
from training.preparation.starting_point_loading import (
    complete_flags,
    read_initial_folder,
)
from training.run_files import input_fingerprints
from training.run_files.settings_creation import create_training_settings
from training.starting_point import InitialFolder


@pytest.fixture
def flags(tmp_path):
    """Flags of a student whose teacher also is its start."""
    model = modeling.BertClassifier(modeling.BertConfig(**TINY), 2, seed=1)
    labels = ["no", "yes"]
    modeling.save_release(built(model), tmp_path / "model", labels=labels)
    modeling.save_huggingface(model, tmp_path / "theirs", labels=labels)
    return toy_task.create_run_flags(tmp_path, max_seq_length=8, do_train=True)


def describe_run(flags, resumes=None):
    """Returns the settings of a new run, or of a run that is resumed."""
    parsed = toy_task.create_command(flags)
    folder = read_initial_folder(parsed.config)
    if resumes:
        run_preset = Preset("run", training_settings=resumes)
        folder = InitialFolder(run_preset, is_own_run=True)
    config = complete_flags(parsed, folder).config
    bert_config = modeling.load_config(flags["bert_config_file"])
    starting_point = toy_task.create_starting_point(config, bert_config)
    starting_point = dataclasses.replace(starting_point, initial_folder=folder)
    training_settings = create_training_settings(starting_point, {}, {})
    resume_checks.check_resumed_settings(
        config, folder.run_preset, training_settings
    )
    return training_settings


CHANGES = [
    ("model", "bert_config.json", "num_attention_heads", 4),
    ("model", "bert_config.json", "hidden_act", "relu"),
    ("model", "bert_config.json", "layer_norm_eps", 0.25),
    ("theirs", "config.json", "num_attention_heads", 4),
    ("theirs", "config.json", "hidden_act", "gelu"),
]


@pytest.mark.parametrize("flag", ["teacher", "init_checkpoint"])
@pytest.mark.parametrize(("folder", "file", "name", "value"), CHANGES)
def test_a_changed_configuration_beside_the_weights_is_refused(
    flags, tmp_path, flag, folder, file, name, value
):
    flags[flag] = str(tmp_path / folder)
    before = describe_run(flags)
    assert describe_run(flags, before) == before
    path = tmp_path / folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(ValueError, match=rf"{flag}_network\.{name}="):
        describe_run(flags, before)
    # A run of an older version did not record it.
    older = {
        name: value
        for name, value in before.inputs.items()
        if not name.endswith("_network")
    }
    assert describe_run(flags, TrainingSettings(inputs=older))


def test_labels_in_another_order_are_another_teacher(flags, tmp_path):
    flags["teacher"] = str(tmp_path / "model")
    before = describe_run(flags)
    (tmp_path / "model/labels.txt").write_text("yes\nno\n")
    with pytest.raises(ValueError, match=r"teacher_network\.labels="):
        describe_run(flags, before)


@pytest.mark.parametrize(
    "name", ["model.weights.h5", "task.weights.h5", "task.json", "config.json"]
)
def test_all_files_of_a_preset_of_kerashub_are_compared(tmp_path, name):
    recorded = ROOT / "tests/testdata/weights/kerashub/classifier"
    folder = shutil.copytree(recorded, tmp_path / "preset")
    before = input_fingerprints.fingerprint_checkpoint(str(folder))
    content = (folder / name).read_bytes()
    if name.endswith(".h5"):
        # The last bytes are values.
        content = content[:-1] + bytes([content[-1] ^ 1])
    else:
        content += b" "
    (folder / name).write_bytes(content)
    assert input_fingerprints.fingerprint_checkpoint(str(folder)) != before


def test_all_files_of_an_index_are_compared(tmp_path):
    recorded = ROOT / "tests/testdata/weights/transformers4/sharded"
    folder = shutil.copytree(recorded, tmp_path / "model")
    before = input_fingerprints.fingerprint_checkpoint(str(folder))
    file = folder / "tf_model-00002-of-00002.h5"
    with h5py.File(file, "r+") as stored:
        values = []
        stored.visititems(lambda _, value: values.append(value))
        weight = next(
            value for value in values if isinstance(value, h5py.Dataset)
        )
        weight[...] = weight[...] + 1
    assert input_fingerprints.fingerprint_checkpoint(str(folder)) != before
