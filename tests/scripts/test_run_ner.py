"""run_ner.py on made-up sentences in CoNLL-2003's layout."""

import json
import shutil

import numpy as np
import pytest

import serving
from data.ner import scoring, spans
from modeling import presets
from tests import events, script_runner
from tests.data.test_report import ReportPage
from tests.script_runner import (
    check_refusals,
    parse_flags,
    read_lines,
    read_results,
)

SENTENCES = [
    ["The O", "river I-LOC", "runs O"],
    ["A O", "boat I-ORG", "house I-ORG", "burns O", ". O"],
    ["Blue I-LOC", "red B-LOC", "water O"],
]
LABELS = ["O", "B-LOC", "B-ORG", "I-ORG"]


def write_set(path, count, with_tags=True):
    lines = ["-DOCSTART- -X- -X- O", ""]
    for i in range(count):
        for word in SENTENCES[i % 3]:
            text, tag = word.split()
            lines.append(f"{text} NN I-NP {tag}" if with_tags else text)
        lines.append("")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny):
    """Two trainings on the same files, with and without documents."""
    folder = tmp_path_factory.mktemp("ner")
    for name, count in (("train", 48), ("valid", 9), ("test", 5)):
        write_set(folder / f"{name}.txt", count)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=3,
        learning_rate=2e-3,
        evaluate_each_epoch=True,
    )
    changes = (
        "--export_dir=served --export_weights=given --report",
        "--document_context --num_train_epochs=1 --output_dir=documents",
    )
    script_runner.run_each(
        "run_ner.py", folder, flags, map(parse_flags, changes)
    )
    return folder, flags


def test_learns_and_reports_conllevals_figures(runs):
    folder = runs[0] / "run"
    results = read_results(folder)
    names = "accuracy eval_loss f1 global_step loss precision recall".split()
    assert {"LOC_f1", "ORG_precision", *names} < results.keys()
    # Three sentences, each seen 48 times.
    assert results["f1"] > 0.9
    exported = read_results(folder, "export_eval_results.txt")
    assert exported["saved_model_f1"] == results["f1"]
    assert (folder / "labels.txt").read_text().splitlines() == LABELS
    # The best step is the one that is used.
    assert presets.best_step_of(folder) == results["global_step"]
    assert results["global_step"] in (12, 24, 36)
    # And the one that the report is about.
    page = ReportPage((folder / "report.html").read_text("utf-8"))
    counts = np.array([row[1:] for row in page.rows[1:]], int).sum(0)
    counts = dict(zip(page.rows[0][1:], counts, strict=True))
    both = 2 * counts["right"]
    f1 = both / (both + counts.get("wrong", 0) + counts.get("missed", 0))
    assert f1 == pytest.approx(results["f1"])
    # One document of 48 sentences in windows of 24.
    assert read_results(runs[0] / "documents")["global_step"] < 12


def test_each_evaluation_is_kept_and_shown(runs):
    run = runs[0] / "run"
    assert {*events.check_evaluations(run)} == {12, 24, 36}


def test_predictions_are_conllevals_columns(runs):
    folder = runs[0] / "run"
    text = (folder / "test_predictions.txt").read_text()
    sentences = [part.split("\n") for part in text.strip().split("\n\n")]
    entries = read_lines(folder / "predictions.jsonl")
    right = []
    for i, (sentence, entry) in enumerate(zip(sentences, entries, strict=True)):
        rows = (row.split(" ") for row in sentence)
        words, tags, labels = map(list, zip(*rows, strict=True))
        assert words == [word.split()[0] for word in SENTENCES[i % 3]]
        assert (entry["words"], entry["labels"]) == (words, labels)
        right.append(tags)
    scores = scoring.score_entities(right, [one["labels"] for one in entries])
    scores["global_step"] = read_results(folder)["global_step"]
    found = read_results(folder, "test_eval_results.txt")
    assert found == pytest.approx(scores)


def test_predicts_from_weights(runs, tmp_path):
    folder, flags = runs
    write_set(tmp_path / "test.txt", 5, with_tags=False)
    predicting = flags | parse_flags(f"""
        --do_train=False --do_eval=False --evaluate_each_epoch=False
        --data_dir={tmp_path} --init_checkpoint={folder}/given
        --output_dir={tmp_path}/predicted
    """)
    script_runner.run("run_ner.py", folder, **predicting).check()
    before, after = (
        [line["labels"] for line in read_lines(path / "predictions.jsonl")]
        for path in (folder / "run", tmp_path / "predicted")
    )
    assert after == before
    assert not (tmp_path / "predicted/test_eval_results.txt").exists()
    cases = [("--labels=B-LOC,O,B-ORG,I-ORG", "B-LOC")]
    check_refusals(folder, "run_ner.py", predicting, cases)


def write_export(path, count):
    """Writes sentences as Label Studio exports them, in one line."""
    tasks = []
    for i in range(count):
        words, tags = zip(
            *(word.split() for word in SENTENCES[i % 3]), strict=True
        )
        text, results = f"\U0001f600 {' '.join(words)}", []
        for kind, first, last in scoring.find_entities(tags):
            start = len(" ".join(["\U0001f600", *words[:first], ""]))
            part = " ".join(words[first:last])
            value = {"start": start, "end": start + len(part), "text": part}
            value["labels"] = [kind]
            results.append({"type": "labels", "value": value})
        annotation = {"result": results, "was_cancelled": False}
        tasks.append(
            {"id": i, "data": {"text": text}, "annotations": [annotation]}
        )
    path.write_text(json.dumps(tasks))
    return tasks


@pytest.mark.slow
def test_label_studios_export_trains_and_predicts_spans(tmp_path, tiny):
    for name, count in (("train", 48), ("dev", 9), ("test", 6)):
        tasks = write_export(tmp_path / f"{name}.json", count)
    flags = script_runner.fine_tuning_flags(
        tmp_path,
        tiny / "one_block",
        num_train_epochs=3,
        learning_rate=2e-3,
        export_dir="served",
    )
    script_runner.run("run_ner.py", tmp_path, **flags).check()
    run = tmp_path / "run"
    labels = ["O", "B-LOC", "B-ORG", "I-LOC", "I-ORG"]
    assert (run / "labels.txt").read_text().splitlines() == labels
    assert read_results(run)["f1"] > 0.9
    # The predictions have the form that is read.
    entries = read_lines(run / "predictions.jsonl")
    texts = [
        " ".join(text[a:b] for a, b, _ in entry["entities"])
        for entry in entries
        for text in [entry["text"]]
    ]
    assert texts.count("boat house") == 2
    shutil.copy(run / "predictions.jsonl", tmp_path / "again.jsonl")
    again = spans.read(tmp_path / "again.jsonl", True)
    assert [tags for *_, tags in again] == [each["labels"] for each in entries]
    # The export gives the same spans.
    bert = serving.load(tmp_path / "served")
    answers = bert.tag([task["data"]["text"] for task in tasks])
    for entry, answer in zip(entries, answers, strict=True):
        assert answer["text"] == entry["text"]
        assert answer["label"] == entry["entities"]
        assert answer["tags"] == entry["labels"]
    assert bert.settings["legal_tags"] is True
