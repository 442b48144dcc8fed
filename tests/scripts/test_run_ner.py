"""run_ner.py on made-up sentences in CoNLL-2003's layout."""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from data.ner import entity_scoring
from modeling.checkpoints import tf1_writer
from tests.support import script_runner
from tests.support.checkpoints import read_checkpoint
from tests.support.output_files import read_json_lines, read_results, snapshot
from tests.support.report_page import ReportPage
from tests.support.script_runner import check_refusals, split_flags
from tests.support.tasks import task_files
from tests.support.tasks.task_files import SENTENCES
from tests.support.tasks.task_runs import (
    check_resume,
    fine_tuning_flags,
    run_task_test,
)


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of a run that has ended."""
    folder = tmp_path_factory.mktemp("ner")
    task_files.write_entity_sets(folder)
    flags = fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=3,
        learning_rate=2e-3,
        evaluate_each_epoch=True,
        report=True,
        export_dir=folder / "served",
        export_weights=folder / "given",
    )
    run_task_test("run_ner.py", flags, "f1")
    return flags


def test_a_run_learns_the_entities_of_each_type(flags):
    results = read_results(flags["output_dir"])
    assert {"LOC_f1", "ORG_precision"} < results.keys()
    # Three sentences, each seen 48 times.
    assert results["f1"] > 0.9


def test_a_run_records_the_tags_of_its_train_set(flags):
    labels = (flags["output_dir"] / "labels.txt").read_text().splitlines()
    assert labels == ["O", "B-LOC", "B-ORG", "I-ORG"]


def test_the_results_are_those_of_the_best_step(flags):
    run = flags["output_dir"]
    described = json.loads((run / "model.json").read_text())
    assert described["best_step"] == read_results(run)["global_step"]


def test_the_report_counts_the_entities_of_the_f1_score(flags):
    run = flags["output_dir"]
    page = ReportPage((run / "report.html").read_text("utf-8"))
    counts = np.array([row[1:] for row in page.rows[1:]], float).sum(0)
    counts = dict(zip(page.rows[0][1:], counts, strict=True))
    both = 2 * counts["right"]
    f1 = both / (both + counts.get("wrong", 0) + counts.get("missed", 0))
    assert f1 == pytest.approx(read_results(run)["f1"])


def test_predictions_are_conllevals_columns(flags):
    run = flags["output_dir"]
    text = (run / "test_predictions.txt").read_text()
    sentences = [part.split("\n") for part in text.strip().split("\n\n")]
    entries = read_json_lines(run / "predictions.jsonl")
    right = []
    for i, (sentence, entry) in enumerate(zip(sentences, entries, strict=True)):
        rows = (row.split(" ") for row in sentence)
        words, tags, labels = map(list, zip(*rows, strict=True))
        assert words == [word.split()[0] for word in SENTENCES[i % 3]]
        assert (entry["words"], entry["labels"]) == (words, labels)
        right.append(tags)
    scores = entity_scoring.score_entities(
        right, [one["labels"] for one in entries]
    )
    expected = scores.to_entries()
    expected["global_step"] = read_results(run)["global_step"]
    assert read_results(run, "test_eval_results.txt") == pytest.approx(expected)


@pytest.fixture
def predicting(flags, tmp_path):
    """Flags of a command that only predicts, with the weights of the run."""
    task_files.write_entities(tmp_path / "test.txt", 9, with_tags=False)
    return flags | {
        "do_train": False,
        "do_eval": False,
        "evaluate_each_epoch": False,
        "report": False,
        "data_dir": tmp_path,
        "init_checkpoint": flags["export_weights"],
        "output_dir": "predicted",
        "export_dir": None,
        "export_weights": None,
    }


def test_a_command_predicts_from_the_weights_of_a_run(
    flags, predicting, tmp_path
):
    script_runner.run("run_ner.py", tmp_path, **predicting).check()
    before, after = (
        [line["labels"] for line in read_json_lines(path / "predictions.jsonl")]
        for path in (flags["output_dir"], tmp_path / "predicted")
    )
    assert after == before
    assert not (tmp_path / "predicted/test_eval_results.txt").exists()


def test_other_labels_than_those_of_the_weights_are_refused(
    predicting, tmp_path
):
    cases = [("--labels=B-LOC,O,B-ORG,I-ORG", "B-LOC")]
    check_refusals(tmp_path, "run_ner.py", predicting, cases)


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bits(flags):
    check_resume("run_ner.py", flags)


@pytest.fixture(scope="module")
def export_model(flags, tmp_path_factory):
    """Function (export_dir, more flags) that exports for LiteRT, as its result.

    Of the model, int8 is really worse.
    """
    pytest.importorskip(
        "ai_edge_litert", reason="needs requirements/litert.txt"
    )
    folder = tmp_path_factory.mktemp("worse")
    weights = read_checkpoint(flags["export_weights"] / "bert_model.ckpt")
    # No sentence contains this word. Its row of the word embeddings leaves int8
    # no steps for the others.
    weights["bert/embeddings/word_embeddings"][-1] = 1e4
    variables = {name: tf.Variable(value) for name, value in weights.items()}
    shutil.copytree(flags["export_weights"], folder / "model")
    tf1_writer.write_checkpoint(folder / "model/bert_model.ckpt", variables)

    def export_model(export_dir, more):
        return script_runner.run(
            "run_ner.py",
            folder,
            data_dir=flags["data_dir"],
            output_dir=export_dir.parent / "run",
            init_checkpoint="model",
            export_dir=export_dir,
            export_format="litert",
            **split_flags(more),
        )

    return export_model


@pytest.mark.slow
def test_a_worse_export_is_refused_and_replaces_nothing(export_model, tmp_path):
    folder = tmp_path / "made/export"
    export_model(folder, "--do_eval").check()
    run = folder.parent / "run"
    assert read_results(run)["f1"] > 0.9
    before = snapshot(folder)
    done = export_model(folder, "--do_eval --quantize=int8")
    assert "--max_export_loss" in done.error
    assert read_results(run, "export_eval_results.txt")["litert_f1"] < 0.9
    assert snapshot(folder) == before
    assert {path.name for path in folder.parent.iterdir()} == {"export", "run"}


@pytest.mark.slow
def test_a_worse_export_is_written_if_its_loss_is_allowed(
    export_model, tmp_path
):
    folder = tmp_path / "export"
    export_model(folder, "").check()
    size = (folder / "model.tflite").stat().st_size
    more = "--do_eval --quantize=int8 --max_export_loss=100"
    export_model(folder, more).check()
    assert (folder / "model.tflite").stat().st_size < size


@pytest.mark.slow
def test_an_export_without_a_dev_set_is_not_checked(export_model, tmp_path):
    done = export_model(tmp_path / "export", "--quantize=int8").check()
    assert done.stderr.count("The export is not checked") == 1
