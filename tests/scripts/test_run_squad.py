"""run_squad.py on SQuAD 1.1 and 2.0."""

import math
import shutil

import pytest

import serving
from files.json_files import read_json
from tests.support import script_runner
from tests.support.output_files import read_results
from tests.support.paths import SAMPLES
from tests.support.report_page import ReportPage
from tests.support.script_runner import split_flags
from tests.support.tasks.task_runs import check_resume, run_task_test

SQUAD = SAMPLES / "squad"


def read_questions(path):
    """Returns {id: (passage, question)} of a file."""
    return {
        qa["id"]: (paragraph["context"], qa)
        for article in read_json(path)["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    }


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of a run on SQuAD 1.1."""
    folder = tmp_path_factory.mktemp("squad")
    return split_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={SAMPLES}/vocab.txt
        --do_train --do_predict --max_seq_length=64 --max_query_length=24
        --doc_stride=16 --n_best_size=5 --train_batch_size=8
        --train_file={SQUAD}/train.json --predict_file={SQUAD}/dev.json
        --num_train_epochs=0.1 --learning_rate=1e-3
    """) | {"output_dir": folder / "run", "export_dir": folder / "served"}


@pytest.fixture(scope="module")
def finished_run(flags):
    """Flags of a run that has ended."""
    run_task_test("run_squad.py", flags, "f1")
    return flags


def test_answers_are_cut_from_the_passages(finished_run):
    run = finished_run["output_dir"]
    asked = read_questions(SQUAD / "dev.json")
    predictions = read_json(run / "predictions.json")
    assert list(predictions) == list(asked)
    for qas_id, answer in predictions.items():
        assert answer
        assert answer in asked[qas_id][0]


def test_each_answer_is_the_first_of_its_n_best(finished_run):
    run = finished_run["output_dir"]
    nbest = read_json(run / "nbest_predictions.json")
    first = {qas_id: entries[0]["text"] for qas_id, entries in nbest.items()}
    predictions = read_json(run / "predictions.json")
    assert [*first.items()] == [*predictions.items()]


def test_the_n_best_answers_of_a_question_are_at_most_n_best_size(finished_run):
    names = {"text", "probability", "start_logit", "end_logit"}
    run = finished_run["output_dir"]
    for entries in read_json(run / "nbest_predictions.json").values():
        assert 1 <= len(entries) <= 5
        assert entries[0].keys() == names


def test_the_probabilities_of_the_n_best_answers_sum_to_one(finished_run):
    run = finished_run["output_dir"]
    for entries in read_json(run / "nbest_predictions.json").values():
        total = sum(entry["probability"] for entry in entries)
        assert math.isclose(total, 1, abs_tol=1e-5)


def test_questions_that_all_have_answers_have_no_null_odds(finished_run):
    assert not (finished_run["output_dir"] / "null_odds.json").exists()


@pytest.mark.slow
def test_a_finished_run_is_exported_without_questions(finished_run, tmp_path):
    script_runner.run(
        "run_squad.py",
        tmp_path,
        init_checkpoint=finished_run["output_dir"],
        output_dir="new",
        export_dir="served",
    ).check()
    card = (tmp_path / "served/README.md").read_text()
    assert "finds the answer" in card
    assert str(tmp_path) not in card


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bits(finished_run):
    check_resume("run_squad.py", finished_run)


@pytest.fixture(scope="module")
def run_with_null_answers(flags, tmp_path_factory):
    """Folder of a run on SQuAD 2.0, whose questions may have no answer.

    No test changes it.
    """
    folder = tmp_path_factory.mktemp("squad2")
    flags = flags | split_flags(f"""
        --train_file={SQUAD}/train-v2.json --predict_file={SQUAD}/dev-v2.json
        --output_dir=v2 --version_2_with_negative --left_to_right --bilstm
        --use_char_offsets --report
    """)
    flags["export_dir"] = None
    script_runner.run("run_squad.py", folder, **flags).check()
    return folder / "v2"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["predictions", "nbest_predictions", "null_odds"]
)
def test_each_file_of_answers_lists_all_questions_in_their_order(
    run_with_null_answers, name
):
    written = read_json(run_with_null_answers / f"{name}.json")
    assert list(written) == list(read_questions(SQUAD / "dev-v2.json"))


@pytest.mark.slow
def test_no_answer_is_given_where_none_scores_higher(run_with_null_answers):
    predictions = read_json(run_with_null_answers / "predictions.json")
    null_odds = read_json(run_with_null_answers / "null_odds.json")
    for qas_id, answer in predictions.items():
        # 0 is the default of --null_score_diff_threshold.
        assert (answer == "") == (null_odds[qas_id] > 0)


@pytest.mark.slow
def test_no_answer_is_among_the_best_of_each_question(run_with_null_answers):
    nbest = read_json(run_with_null_answers / "nbest_predictions.json")
    for entries in nbest.values():
        assert any(entry["text"] == "" for entry in entries)


@pytest.mark.slow
def test_the_report_shows_each_wrong_answer(run_with_null_answers):
    page = ReportPage(
        (run_with_null_answers / "report.html").read_text("utf-8")
    )
    num_asked = len(read_questions(SQUAD / "dev-v2.json"))
    exact = read_results(run_with_null_answers)["exact"]
    assert len(page.wrong) == num_asked - round(num_asked * exact / 100)


@pytest.fixture(scope="module")
def trimmed(flags, tmp_path_factory):
    """Folder with a `run` on SQuAD 2.0 without padding. No test changes it."""
    folder = tmp_path_factory.mktemp("trimmed")
    flags = flags | split_flags(f"""
        --train_file={SQUAD}/train-v2.json --predict_file={SQUAD}/dev-v2.json
        --output_dir=run --version_2_with_negative --trim_padding
    """)
    flags["export_dir"] = None
    script_runner.run("run_squad.py", folder, **flags).check()
    return folder


@pytest.mark.slow
def test_later_answers_leave_out_padding_as_the_training_did(trimmed, tmp_path):
    shutil.copytree(trimmed / "run", tmp_path / "run")
    script_runner.run(
        "run_squad.py",
        tmp_path,
        do_predict=True,
        predict_file=SQUAD / "dev-v2.json",
        output_dir="run",
    ).check()
    odds, expected = (
        read_json(folder / "run/null_odds.json")
        for folder in (tmp_path, trimmed)
    )
    assert odds == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["run_squad.py", "tools.export"])
def test_an_export_leaves_out_padding_as_the_training_did(
    script, trimmed, tmp_path
):
    flags = {
        "run_squad.py": {
            "init_checkpoint": trimmed / "run",
            "output_dir": "new",
        },
        "tools.export": {"model": trimmed / "run"},
    }[script]
    script_runner.run(script, tmp_path, export_dir="served", **flags).check()
    assert (
        serving.load(tmp_path / "served").head_settings["trim_padding"] is True
    )
