"""Heads that are used as they are: another task's, and other orders."""

import json
import shutil

import numpy as np
import pytest
import safetensors.numpy

import modeling
from data.text.tokenization import FullTokenizer
from tests import glue_sets, script_runner
from tests.checkpoints import values
from tests.conftest import TINY
from tests.script_runner import check_errors, parse_flags, read_results
from tests.scripts import test_run_ner, test_run_swag
from tests.training.test_heads import MNLI, MULTILABEL

VOCAB = script_runner.SAMPLES / "vocab.txt"
CONFIG = modeling.BertConfig.from_dict(
    TINY | {"num_hidden_layers": 1, "initializer_range": 0.3}
)


def save(folder, create, *arguments, **options):
    """Writes a model of random weights as transformers would; returns it."""
    model = create(CONFIG, *arguments, seed=1)
    model.build()
    tokenizer = FullTokenizer(VOCAB)
    modeling.save_huggingface(model, folder, tokenizer=tokenizer, **options)
    return model


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of other tasks, and models of MNLI whose orders differ."""
    folder = tmp_path_factory.mktemp("models")
    classifier = modeling.BertClassifier
    save(folder / "mnli", classifier, 3, labels=MNLI)
    save(folder / "unnamed", classifier, 3)
    save(folder / "others", classifier, 3, labels=["anger", "joy", "fear"])
    labels = ["ENTAILMENT", "neutral", "Contradiction"]
    save(folder / "reordered", classifier, 3, labels=labels)
    file = folder / "reordered/model.safetensors"
    tensors = safetensors.numpy.load_file(file)
    for name in ("classifier.weight", "classifier.bias"):
        # To the places that the names have.
        tensors[name] = np.ascontiguousarray(tensors[name][[1, 2, 0]])
    safetensors.numpy.save_file(tensors, file)
    save(
        *(folder / "multilabel", classifier, 3),
        labels=["a", "b", "c"],
        problem_type=MULTILABEL,
    )
    save(folder / "number", classifier, 1, problem_type="regression")
    glue_sets.write_mnli(folder / "mnli_data")
    glue_sets.write_regression(folder / "pairs")
    (folder / "table").mkdir()
    (folder / "table/test.csv").write_text("text\nthe river\n")
    test_run_ner.write_set(folder / "test.txt", 3)
    test_run_swag.write_set(folder / "test.csv", 2)
    return folder


def add_weight(folder, name, shape):
    """Adds a weight to a model's safetensors file."""
    file = folder / "model.safetensors"
    tensors = safetensors.numpy.load_file(file)
    tensors[name] = np.zeros(shape, np.float32)
    safetensors.numpy.save_file(tensors, file)


def flags(folder, **changes):
    return {
        "bert_config_file": folder / "mnli/config.json",
        "vocab_file": VOCAB,
        "max_seq_length": 32,
        **changes,
    }


def test_a_model_of_mnli_from_elsewhere(models, tmp_path):
    names = ("mnli", "reordered", "unnamed")
    evaluating = flags(models, task_name="mnli", data_dir=models / "mnli_data")
    done = script_runner.run_each(
        "run_classifier.py",
        tmp_path,
        evaluating,
        [
            {
                "init_checkpoint": models / name,
                "output_dir": tmp_path / name,
                "export_weights": tmp_path / f"{name}_weights",
                "do_eval": name != "unnamed",
            }
            for name in names
        ],
    )
    results = [read_results(tmp_path / name) for name in names[:2]]
    weights = [values(tmp_path / f"{n}_weights/bert_model.ckpt") for n in names]
    assert results[0].pop("eval_loss") == pytest.approx(
        results[1].pop("eval_loss"), rel=1e-5
    )
    assert results[0]["accuracy"] == results[1]["accuracy"]
    for other in weights[1:]:
        np.testing.assert_array_equal(
            other["output_weights"], weights[0]["output_weights"]
        )
    for name, each in zip(names, done, strict=True):
        labels = (tmp_path / f"{name}_weights/labels.txt").read_text()
        assert labels.split() == MNLI
        is_unnamed = (
            "unnamed does not name its outputs. They are assumed to be "
        )
        is_unnamed += "contradiction, entailment, neutral, in this order."
        assert (is_unnamed in each.stderr) == (name == "unnamed")
        is_moved = "reordered the outputs to contradiction, entailment"
        assert (is_moved in each.stderr) == (name == "reordered")


CSV = "--task_name=csv --data_dir=table"


def test_another_tasks_head_is_refused(models):
    """Heads of other classes are in tests/training/test_heads.py."""
    predicting = flags(models, do_predict=True, output_dir="out")
    cases = [
        (
            "--task_name=mnli --data_dir=mnli_data --init_checkpoint=others",
            "the labels ['anger', 'joy', 'fear']",
        ),
        (
            "--task_name=sts-b --data_dir=pairs --init_checkpoint=multilabel",
            f"={MULTILABEL}, but this task needs regression",
        ),
        (
            f"{CSV} --output_mode=classification --init_checkpoint=multilabel",
            f"={MULTILABEL}, but this task needs single_label_classification",
        ),
        (
            f"{CSV} --output_mode=multilabel --labels=a "
            "--init_checkpoint=number",
            f"=regression, but this task needs {MULTILABEL}",
        ),
    ]
    check_errors(models, "run_classifier.py", predicting, cases)


@pytest.mark.slow
def test_a_run_of_another_task_is_refused(models, tmp_path):
    """A model of numbers, and one of choices: one output, no labels."""
    training = flags(
        models,
        do_train=True,
        train_batch_size=8,
        num_train_epochs=1,
        data_dir=models / "pairs",
        output_dir="numbers",
        task_name="sts-b",
    )
    script_runner.run("run_classifier.py", tmp_path, **training).check()
    message = "contains a BertClassifier, but this task needs a Bert"
    cases = [
        ("--output_dir=numbers", message),
        ("--output_dir=out --init_checkpoint=numbers", message),
    ]
    predicting = flags(models, do_predict=True, data_dir=models)
    check_errors(tmp_path, "run_swag.py", predicting, cases)
    converting = parse_flags(
        f"--init_checkpoint=numbers --vocab_file={VOCAB} --output_dir=out "
        f"--bert_config_file={models}/mnli/config.json"
    )
    cases = [("--model=multiple_choice", message)]
    check_errors(tmp_path, "tools.convert_checkpoint", converting, cases)
    # Its kind, its type and its length are known.
    done = script_runner.run("tools.convert_checkpoint", tmp_path, **converting)
    done.check()
    written, tokenizer = (
        json.loads((tmp_path / "out" / name).read_text())
        for name in ("config.json", "tokenizer_config.json")
    )
    assert written["architectures"] == ["BertForSequenceClassification"]
    assert written["problem_type"] == "regression"
    assert written["max_position_embeddings"] == 64
    assert tokenizer["model_max_length"] == 32


def test_a_head_that_is_missing_is_warned_of(models, tmp_path):
    save(tmp_path / "encoder", modeling.BertModel)
    done = script_runner.run(
        "run_ner.py",
        tmp_path,
        **flags(
            models,
            data_dir=models,
            init_checkpoint=tmp_path / "encoder",
            output_dir="out",
            labels="O,B-LOC,B-ORG,I-ORG",
            export_weights="weights",
        ),
    ).check()
    assert "encoder contains no weights for the task's head" in done.stderr
    assert "does not name its outputs" not in done.stderr


def test_a_head_under_a_foreign_name_is_refused(models, tmp_path):
    """Other programs' heads do not become random outputs."""
    cases = []
    for name in ("score.weight", "model.score.weight"):
        save(tmp_path / name, modeling.BertModel)
        add_weight(tmp_path / name, name, (4, 32))
        start = f"--init_checkpoint={name}"
        cases.append((start, f"{start} contains {name}, but no head"))
    given = flags(models, data_dir=models, labels="O,B-LOC,B-ORG,I-ORG")
    given |= {"output_dir": "out", "do_predict": True}
    check_errors(tmp_path, "run_ner.py", given, cases)


def test_weights_that_would_not_be_used(models, tmp_path):
    """Adapters, blocks that the configuration omits, and other layers."""
    encoder = "bert.encoder.layer.0"
    for name, weight in (
        ("adapter", f"{encoder}.attention.self.query.lora_A.default.weight"),
        ("block", "bert.encoder.layer.1.output.dense.weight"),
        ("layer", "dense.weight"),
    ):
        shutil.copytree(models / "others", tmp_path / name)
        add_weight(tmp_path / name, weight, (32, 32))
    given = {"task_name": "csv", "data_dir": models / "table"}
    given |= {"max_seq_length": 32, "do_predict": True}
    cases = [
        (
            "--init_checkpoint=adapter --output_dir=out",
            "lora_A.default.weight, a weight of an adapter",
        ),
        (
            "--init_checkpoint=block --output_dir=out",
            "contains 2 blocks, but num_hidden_layers is 1",
        ),
    ]
    check_errors(tmp_path, "run_classifier.py", given, cases)
    given |= {"init_checkpoint": tmp_path / "layer", "output_dir": "layer_out"}
    done = script_runner.run("run_classifier.py", tmp_path, **given).check()
    assert "layer also contains dense.weight, which this pr" in done.stderr
