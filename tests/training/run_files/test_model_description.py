"""Which files describe a run's model, and which of them a run replaces."""

import dataclasses
import json

import pytest

import modeling
from model_folders import model_json
from model_folders.training_settings import TrainingSettings
from tests.support import models
from tests.support.tasks import toy_task
from tests.support.tasks.run_settings import begin_run
from training.run_files.model_description import (
    create_listed_files,
    create_model_json,
)


def describe_encoder(folder, labels=None, **changes):
    """Writes the description of an encoder, as a run's start does."""
    bert_config = modeling.BertConfig(**models.TINY | changes)
    model = modeling.BertModel(bert_config)
    begin_run(toy_task.create_config(folder), model, TrainingSettings(), labels)


def test_files_of_a_run_without_a_checkpoint_are_replaced(tmp_path):
    """A run without one was killed before its first checkpoint."""
    describe_encoder(tmp_path)
    describe_encoder(tmp_path, num_attention_heads=1)
    config = json.loads((tmp_path / "bert_config.json").read_text())
    assert config["num_attention_heads"] == 1


def test_files_of_a_run_with_a_checkpoint_stay(tmp_path):
    describe_encoder(tmp_path)
    (tmp_path / "model.ckpt-1.index").touch()
    with pytest.raises(ValueError, match=r"bert_config\.json"):
        describe_encoder(tmp_path, num_attention_heads=1)


def test_a_users_own_labels_stay(tmp_path):
    (tmp_path / "labels.txt").write_text("no\nyes\n")
    describe_encoder(tmp_path, ["no", "yes"])
    with pytest.raises(ValueError, match=r"labels\.txt"):
        describe_encoder(tmp_path, ["yes", "no"])


def test_a_users_own_configuration_stays(tmp_path):
    models.write_config(tmp_path / "bert_config.json")
    describe_encoder(tmp_path)
    with pytest.raises(ValueError, match=r"bert_config\.json"):
        describe_encoder(tmp_path, num_attention_heads=1)


def test_a_users_own_description_stays(tmp_path):
    text = '{"version": 1, "mine": 2}'
    (tmp_path / model_json.MODEL_JSON_FILE).write_text(text)
    with pytest.raises(ValueError, match=r"model\.json"):
        describe_encoder(tmp_path)
    assert (tmp_path / model_json.MODEL_JSON_FILE).read_text() == text


def test_a_description_lists_its_own_files(tmp_path):
    (tmp_path / "notes.txt").touch()
    describe_encoder(tmp_path, ["no", "yes"])
    entries = json.loads((tmp_path / model_json.MODEL_JSON_FILE).read_text())
    assert entries["files"] == ["bert_config.json", "labels.txt"]


def test_a_configuration_file_with_other_entries_is_kept(tmp_path):
    """Another program may have saved it."""
    path = models.write_config(tmp_path / "bert_config.json", mine=1)
    describe_encoder(tmp_path)
    assert json.loads(path.read_text())["mine"] == 1


def create_encoder():
    return modeling.BertModel(modeling.BertConfig(**models.TINY))


def test_a_model_with_a_vocabulary_has_its_files():
    tokenizer = toy_task.load_tokenizer()
    files = create_listed_files(create_encoder(), tokenizer, labels=None)
    assert "bert_config.json" in files
    assert files["vocab.txt"].startswith(b"[PAD]\n")


def test_a_model_without_labels_has_no_file_of_labels():
    files = create_listed_files(create_encoder(), None, labels=None)
    assert [*files] == ["bert_config.json"]


def describe(training_settings, **flags):
    """Returns model.json of a run of these flags."""
    config = toy_task.create_config("run", **flags)
    model = create_encoder()
    starting_point = toy_task.create_starting_point(config, model.config)
    return create_model_json(starting_point, model, training_settings)


def test_a_description_states_the_flags_of_the_head():
    description = describe(TrainingSettings(), max_seq_length=24)
    assert description["task"]["max_seq_length"] == 24


def test_a_description_states_what_the_task_chose_for_a_flag():
    description = describe(
        TrainingSettings({"max_seq_length": 16}), max_seq_length=24
    )
    assert description["task"]["max_seq_length"] == 16


def test_a_description_records_the_settings_of_the_training():
    inputs = {"train_records": [["train", 5, 1]]}
    description = describe(TrainingSettings(inputs=inputs))
    assert description["origin"]["settings"] == inputs


def record_command(**command):
    """Returns the flags that model.json records of a command."""
    parsed = toy_task.create_command(command | {"output_dir": "run"})
    model = create_encoder()
    starting_point = toy_task.create_starting_point(parsed.config, model.config)
    starting_point = dataclasses.replace(starting_point, parsed=parsed)
    contents = create_model_json(starting_point, model, TrainingSettings())
    return contents["origin"]["command"]


def test_a_recorded_command_names_no_folders():
    command = record_command(vocab_file="/home/anna/bert/vocab.txt")
    assert command["vocab_file"] == "vocab.txt"


def test_a_recorded_command_names_the_last_folder_of_a_path():
    assert record_command(data_dir="/home/anna/glue/")["data_dir"] == "glue"


def test_a_recorded_command_keeps_its_numbers():
    assert record_command(learning_rate=1e-4)["learning_rate"] == 1e-4


def test_a_recorded_command_names_no_machines():
    assert "tpu_name" not in record_command(tpu_name="annas-tpu")
