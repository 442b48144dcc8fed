"""Model cards: what they say, and whose README.md stays."""

import json
import re
from types import SimpleNamespace

import pytest

import modeling
from tests import conftest, toy_task
from tests.models import built
from training import model_card

TINY = modeling.BertConfig(**conftest.TINY)


def describe(name):
    """The model.json of a run at step 7 with results."""
    return {
        "version": 1,
        "task": {"name": name, "task_name": "mrpc", "max_seq_length": 32},
        "origin": {
            "script": "run_classifier.py",
            "step": 7,
            "versions": {"keras": "3.15.1"},
            "settings": {
                "train_records": [["train.tf_record", 12, "c77e"]],
            },
        },
        "evaluation": {"dev": {"f1": 0.5}, "test": {"f1": 0.25}},
    }


def test_says_what_the_model_does():
    for kind in (model_card.EXPORT, model_card.WEIGHTS):
        card = model_card.format_card(
            describe("BertClassifier"), kind, ["no", "yes"], True, 2
        )
        for part in (
            "0. `no`\n1. `yes`",
            "32 WordPieces",
            "lower-cased",
            "| dev | f1 | 0.5 |\n| test | f1 | 0.25 |",
            "| train_records | train.tf_record | 12 | c77e |",
            "Step: 7",
            "keras 3.15.1",
            "## License",
        ):
            assert part in card
        assert not card.startswith("---")


def test_hugging_face_metadata_is_yaml():
    yaml = pytest.importorskip("yaml", reason="not among the requirements")

    def read(**changes):
        card = model_card.format_card(
            describe("BertSpanLabeler") | changes,
            model_card.HUGGINGFACE,
            None,
            None,
        )
        return yaml.safe_load(card.split("---\n", 2)[1])

    front = read()
    [model] = front.pop("model-index")
    assert front["pipeline_tag"] == "question-answering"
    dev, test = model["results"]
    assert dev["dataset"]["split"] == "dev"
    assert test["metrics"] == [{"type": "f1", "value": 0.25}]
    assert "model-index" not in read(evaluation={})


def test_command_names_files_but_no_folders(tmp_path):
    teacher = tmp_path / "secret" / "teacher"
    config = toy_task.create_config(
        "secret/run",
        given_flags={
            "output_dir": "secret/run/",
            "teacher": str(teacher),
            "records": "gs://secret/a.tf_record",
            "master": "grpc://secret",
            "learning_rate": 2e-05,
            "tpu_name": "secret",
        },
    )
    description = config.open_run().describe(config, None)
    card = model_card.format_card(
        description, model_card.WEIGHTS, None, None, None
    )
    assert "secret" not in card
    for flag in ("output_dir=run", "teacher=teacher", "records=a.tf_record"):
        assert f"--{flag}" in card


def test_results_are_those_of_the_step(tmp_path):
    model = built(modeling.BertClassifier(TINY, 2))
    modeling.save_checkpoint(model, tmp_path / "model.ckpt-7")
    for name, text in {
        "eval_results": "f1 = 0.5\nglobal_step = 7\nloss = nan\n",
        "test_eval_results_mm": "f1 = 0.25\nglobal_step = 7\n",
        "test_eval_results": "f1 = 0.125\nglobal_step = 6\n",
        "export_eval_results": "f1 = 0.1\nglobal_step = 7\n",
    }.items():
        (tmp_path / f"{name}.txt").write_text(text)
    files = model_card.describe_copy(
        str(tmp_path), model, card=model_card.WEIGHTS
    )
    # Another model was not evaluated.
    assert "evaluation" not in json.loads(files["model.json"])
    task = {"name": "BertClassifier"}
    (tmp_path / "model.json").write_text(
        json.dumps({"version": 1, "task": task})
    )
    files = model_card.describe_copy(
        str(tmp_path), model, card=model_card.WEIGHTS
    )
    assert json.loads(files["model.json"])["evaluation"] == {
        "dev": {"f1": 0.5},
        "test": {"f1_mm": 0.25},
    }


def save(folder, model):
    files = model_card.describe_copy(
        None, model, card=model_card.WEIGHTS, labels=["no", "yes"]
    )
    modeling.save_release(model, folder, labels=["no", "yes"], files=files)


def test_weights_have_a_card_whose_code_runs(tmp_path):
    model = built(modeling.BertClassifier(TINY, 2))
    for _ in range(2):
        # The second one replaces the first one's card.
        save(tmp_path / "mine", model)
        card = (tmp_path / "mine/README.md").read_text()
        (tmp_path / "mine/README.md").write_text("changed")
    assert "not known" in card and str(tmp_path) not in card
    [code] = re.findall("```python\n(.*?)```", card, re.DOTALL)
    found = {}
    exec(code.replace("FOLDER", str(tmp_path / "mine")), found)
    assert found["model"].num_labels == 2


def test_results_of_another_model_are_not_copied(tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(describe("BertClassifier")))
    weights = built(modeling.BertClassifier(TINY, 2))
    modeling.save_checkpoint(weights, tmp_path / "bert_model.ckpt")
    for name, is_same in (("BertClassifier", True), ("BertModel", False)):
        model = type(name, (SimpleNamespace,), {})()
        files = model_card.describe_copy(
            str(tmp_path), model, card=model_card.EXPORT
        )
        assert ("evaluation" in json.loads(files["model.json"])) is is_same
        assert ("| dev | f1 |" in files["README.md"]) is is_same
