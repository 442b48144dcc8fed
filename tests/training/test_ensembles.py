"""Ensembles through the scripts, against averages computed here."""

import re

import numpy as np
import pytest
from scipy import special

import modeling
from files.json_files import read_json
from tests import script_runner, toy_task
from tests.checkpoints import read_records
from tests.conftest import TINY
from tests.models import built
from tests.script_runner import parse_flags, read_results
from training import checks, fine_tuning

VOCAB = script_runner.SAMPLES / "vocab.txt"
SQUAD = script_runner.SAMPLES / "squad"
CONFIG = modeling.BertConfig.from_dict(TINY | {"initializer_range": 0.3})


def save_members(folder, create, count=3, labels=None):
    """Writes models of random weights that differ, and returns both."""
    models = []
    for seed in range(count):
        models.append(built(create(CONFIG, seed=seed)))
        modeling.save_release(
            models[-1], folder / f"member_{seed}", labels=labels
        )
    return models, ",".join(f"member_{seed}" for seed in range(count))


def outputs_of(models, records):
    """Returns each model's outputs for all records of a file."""
    features = read_records(records, [16])
    return np.array([model(features).numpy() for model in models])


def run(script, folder, members, **flags):
    """Runs a script with an ensemble that writes to the folder `out`."""
    flags = {
        "data_dir": folder,
        "bert_config_file": folder / "member_0/bert_config.json",
        "vocab_file": VOCAB,
        "ensemble": members,
        "output_dir": "out",
        "max_seq_length": 16,
        **flags,
    }
    return script_runner.run(script, folder, **flags).check()


def write_table(folder, labels):
    for name in ("dev", "test"):
        lines = ["text\tlabel"]
        lines += [
            f"the {word} boat is near the {place}\t{label}"
            for label in labels
            for word in ("red", "blue", "green")
            for place in ("river", "water", "island")
        ]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")


@pytest.mark.slow
def test_probabilities_of_classes_are_averaged(tmp_path):
    labels = ["no", "some", "yes"]
    write_table(tmp_path, labels)
    models, members = save_members(
        tmp_path,
        lambda config, seed: modeling.BertClassifier(config, 3, seed=seed),
        labels=labels,
    )
    flags = parse_flags("--task_name=csv --do_eval --do_predict --report")
    done = run("run_classifier.py", tmp_path, members, **flags)
    assert "an ensemble of 3 models" in done.stderr
    logits = outputs_of(models, tmp_path / "out/predict.tf_record")
    mean = special.softmax(logits, axis=-1).mean(axis=0)
    rows = np.loadtxt(tmp_path / "out/test_results.tsv", delimiter="\t")
    np.testing.assert_allclose(rows, mean, atol=1e-5)
    results = read_results(tmp_path / "out")
    gold = np.repeat(np.arange(3), 9)
    assert results["ensemble_size"] == 3
    assert results["eval_accuracy"] == pytest.approx(
        (mean.argmax(-1) == gold).mean()
    )
    assert results["eval_loss"] == pytest.approx(
        -np.log(mean[np.arange(27), gold]).mean(), abs=1e-4
    )

    # Unlike any of the models.
    assert np.abs(special.softmax(logits, axis=-1) - mean).max() > 0.01


@pytest.mark.slow
def test_nbest_lists_are_averaged(tmp_path):
    _, members = save_members(tmp_path, modeling.BertSpanLabeler, count=2)
    flags = parse_flags(f"""
        --bert_config_file=member_0/bert_config.json --vocab_file={VOCAB}
        --predict_file={SQUAD}/dev-v2.json --version_2_with_negative
        --do_predict --max_seq_length=64 --max_query_length=24 --n_best_size=3
    """)
    starts = [
        {"output_dir": "one", "init_checkpoint": "member_0"},
        {"output_dir": "two", "init_checkpoint": "member_1"},
        {"output_dir": "both", "ensemble": members, "report": True},
    ]
    script_runner.run_each("run_squad.py", tmp_path, flags, starts)
    one, two, both = (
        read_json(tmp_path / each["output_dir"] / "nbest_predictions.json")
        for each in starts
    )
    assert one.keys() == two.keys() == both.keys()
    for question, entries in both.items():
        expected = {}
        for entry in one[question] + two[question]:
            expected.setdefault(entry["text"], []).append(entry["probability"])
        for entry in entries:
            assert entry["probability"] == pytest.approx(
                np.sum(expected[entry["text"]]) / 2, abs=1e-5
            )
    results = read_results(tmp_path / "both")
    assert results["ensemble_size"] == 2


def test_labels_that_hold_or_not():
    import run_classifier

    task = run_classifier.ClassifierTask(None)
    task.decoder = run_classifier.decoding.LabelDecoder(
        "multilabel", ["a", "b"]
    )
    outputs = np.random.default_rng(0).normal(size=(3, 4, 2)) * 5
    mean = special.expit(outputs).mean(axis=0)
    found = special.expit(task.combine(list(outputs)).astype(np.float64))
    np.testing.assert_allclose(found, mean, rtol=1e-5)
    # Numbers are averaged as they are.
    task.decoder = run_classifier.decoding.LabelDecoder("regression", None)
    found = task.combine(list(outputs))
    np.testing.assert_allclose(found, outputs.mean(axis=0), rtol=1e-5)


def test_mean_of_classes_stays_finite():
    logits = np.array([[[1e4, -1e4]], [[1e4, -1e4]]], np.float32)
    assert np.isfinite(toy_task.ToyTask().combine(logits)).all()


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"do_train": True}, "remove --do_train"),
        ({"init_checkpoint": "x"}, "remove --init_checkpoint"),
        ({"ensemble": "member_0"}, "at least two models"),
        ({"ensemble": "member_0,member_0"}, "at least two models"),
        ({"ensemble": "member_0,member_0/"}, "at least two models"),
        ({"ensemble": "member_0,link"}, "at least two models"),
        ({"ensemble": "member_0,nowhere"}, "no checkpoint nowhere"),
        ({"ensemble": "member_0,other"}, "other has the labels ['a']"),
    ],
)
def test_contradictions_are_refused(tmp_path, monkeypatch, changed, message):
    monkeypatch.chdir(tmp_path)
    for name, labels in (("member_0", ["a", "b"]), ("other", ["a"])):
        model = built(modeling.BertClassifier(CONFIG, len(labels), seed=0))
        modeling.save_release(model, tmp_path / name, labels=labels)
    (tmp_path / "link").symlink_to("member_0")
    with pytest.raises((ValueError, OSError), match=re.escape(message)):
        checks.find_members(
            toy_task.create_config(
                "out", **{"ensemble": "member_0,other"} | changed
            )
        )


def test_a_member_without_the_head_is_refused(tmp_path):
    encoder = built(modeling.BertModel(CONFIG, seed=1))
    for name in ("a", "b"):
        modeling.save_release(encoder, tmp_path / name)
    config = toy_task.create_config(
        tmp_path / "out",
        bert_config_file=str(tmp_path / "a/bert_config.json"),
        ensemble=f"{tmp_path}/a,{tmp_path}/b",
        max_seq_length=8,
        do_eval=True,
    )
    task = toy_task.ToyTask()
    task.evaluate = lambda split, batches: {"accuracy": len(list(batches))}
    with pytest.raises(ValueError, match="contains no output_weights"):
        fine_tuning.run(task, config)


@pytest.mark.slow
def test_tags_are_averaged_and_reported(tmp_path):
    labels = ["O", "B-LOC", "I-LOC"]
    models, members = save_members(
        tmp_path,
        lambda config, seed: modeling.BertTokenClassifier(config, 3, seed=seed),
        labels=labels,
    )
    lines = ["The O", "red B-LOC", "river I-LOC", "runs O", ""] * 5
    (tmp_path / "valid.txt").write_text("\n".join(lines))
    run("run_ner.py", tmp_path, members, do_eval=True, report=True)
    logits = outputs_of(models, tmp_path / "out/eval.tf_record")
    # [CLS] is the first WordPiece, and each of these words is one.
    tags = special.softmax(logits, axis=-1).mean(axis=0)[:, 1:5].argmax(-1)
    results = read_results(tmp_path / "out")
    assert results["ensemble_size"] == 3
    assert results["accuracy"] == pytest.approx((tags == [0, 1, 2, 0]).mean())


@pytest.mark.slow
def test_values_are_averaged(tmp_path):
    write_table(tmp_path, [0.5, 3.0])
    models, members = save_members(
        tmp_path,
        lambda config, seed: modeling.BertClassifier(config, 1, seed=seed),
    )
    flags = parse_flags("--task_name=csv --output_mode=regression --do_predict")
    run("run_classifier.py", tmp_path, members, **flags)
    mean = outputs_of(models, tmp_path / "out/predict.tf_record").mean(axis=0)
    rows = np.loadtxt(tmp_path / "out/test_results.tsv")
    np.testing.assert_allclose(rows, mean[:, 0], atol=1e-5)
