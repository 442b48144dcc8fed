"""Cards of runs and copies: what they say, and whose README.md stays."""

import dataclasses
import json
import re

import modeling
from model_folders import kinds
from model_folders.cards import model_card
from model_folders.cards.copied_model_json import create_model_json_of_copy
from model_folders.reading.preset import read_preset
from model_folders.scores import Scores
from model_folders.training_settings import TrainingSettings
from tests.support import models
from tests.support.models import built
from tests.support.tasks import toy_task
from training.run_files import model_description
from training.starting_point import InitialFolder, StartingPoint

TINY = modeling.BertConfig(**models.TINY)


def test_the_card_of_a_run_replaces_only_itself(tmp_path):
    path = tmp_path / "README.md"
    model = {"version": 1, "task": {"name": "BertClassifier"}}
    model["origin"] = {"settings": {}}
    card = model_card.RunCard(model_json=model)
    path.write_text(card.text())
    assert model_card.is_own_card(path)
    path.write_text("# My notes\n")
    assert not model_card.is_own_card(path)


def test_the_card_of_a_run_without_its_best_step_keeps_the_last():
    task = {"name": "BertClassifier"}
    model = {"version": 1, "best_step": 5, "origin": {"settings": {}}}
    files = {"best": 5, "model.ckpt-7.index": 5}

    def card(**settings):
        return model_card.RunCard(
            model_json=model | {"task": task | settings},
            results=Scores({"f1": 0.5}),
            files=files,
        ).text()

    claims = ("The dev set chose the step", "`best` is the model")
    assert all(claim in card(load_best=True) for claim in claims)
    # The model that the run reports is model.ckpt-7.
    assert not any(claim in card(load_best=False) for claim in claims)


def write_card(parsed):
    """Returns the text of the card of weights that a command has trained."""
    starting_point = StartingPoint(
        parsed=parsed,
        initial_folder=InitialFolder(),
        bert_config=modeling.BertConfig(vocab_size=10),
        tokenizer=None,
    )
    contents = model_description.create_model_json(
        starting_point, model=None, training_settings=TrainingSettings()
    )
    return model_card.WeightsCard(model_json=contents).text()


def test_command_names_files_but_no_folders(tmp_path):
    flags = toy_task.create_flags(
        "secret/run/",
        teacher=str(tmp_path / "secret" / "teacher"),
        vocab_file="gs://secret/vocab.txt",
        master="grpc://secret",
        learning_rate=2e-05,
        tpu_name="secret",
    )
    command = toy_task.create_command(flags)
    card = write_card(dataclasses.replace(command, script="run_classifier.py"))
    assert "secret" not in card
    for flag in ("output_dir=run", "teacher=teacher", "vocab_file=vocab.txt"):
        assert f"--{flag}" in card


def test_a_copy_is_not_the_folder_of_a_run(tmp_path):
    described = {
        "version": 1,
        "best_step": 5,
        "task": {"name": "BertClassifier", "max_seq_length": 32},
        "origin": {"script": "run_classifier.py", "step": 7},
        "files": ["vocab.txt"],
    }
    (tmp_path / "model.json").write_text(json.dumps(described))
    copied = create_model_json_of_copy(
        read_preset(tmp_path),
        "BertClassifier",
        {"doc_stride": 3},
        step=5,
    )
    assert copied["task"] == described["task"] | {"doc_stride": 3}
    assert copied["origin"]["step"] == 5
    assert not {"best_step", "files"} & copied.keys()


def save_copy(folder, model):
    contents = create_model_json_of_copy(None, kinds.model_class_of(model))
    card = model_card.WeightsCard(model_json=contents)
    files = card.create_copy_files()
    modeling.save_release(model, folder, files=files)


def test_weights_have_a_card_whose_code_runs(tmp_path):
    model = built(modeling.BertClassifier(TINY, 2))
    for _ in range(2):
        # The second one replaces the first one's card.
        save_copy(tmp_path / "mine", model)
        card = (tmp_path / "mine/README.md").read_text()
        (tmp_path / "mine/README.md").write_text("changed")
    assert "not known" in card
    assert str(tmp_path) not in card
    [code] = re.findall("```python\n(.*?)```", card, re.DOTALL)
    names = {}
    exec(code.replace("FOLDER", str(tmp_path / "mine")), names)
    assert names["model"].num_labels == 2
