"""run_squad.py on v1.1, on v2.0 and on text without spaces."""

import json
import math

import pytest

from files.json_files import read_json
from tests import script_runner
from tests.data.test_report import ReportPage
from tests.script_runner import parse_flags, read_results
from tests.task_runs import check_resume, run_task_test

SQUAD = script_runner.SAMPLES / "squad"
CONTEXT = "黄河长5464公里，流经九省。长江更长，約6300公里!"
QUESTION = "长江多长？"
# In the middle of what white space parts: words alone cannot find it.
ANSWER = "約6300公里"


def read_questions(path):
    """Returns {id: (passage, question)} of a file."""
    return {
        qa["id"]: (paragraph["context"], qa)
        for article in read_json(path)["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    }


def write_without_spaces(folder):
    """Writes a question of a passage in Chinese, and its vocabulary."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens += sorted({*CONTEXT, *"多？"} - set("0123456789"))
    tokens += ["5464", "6300", "公", "##公", "##里"]
    tokens += [f"[unused{i}]" for i in range(1600)]
    tokens = [*dict.fromkeys(tokens)][:1600]
    (folder / "vocab.txt").write_text("\n".join(tokens))
    answer = {"text": ANSWER, "answer_start": CONTEXT.index(ANSWER)}
    qas = [{"id": "q", "question": QUESTION, "answers": [answer]}]
    paragraphs = [{"context": CONTEXT, "qas": qas}]
    content = {"version": "1.1", "data": [{"paragraphs": paragraphs}]}
    (folder / "few.json").write_text(json.dumps(content, ensure_ascii=False))


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of runs in a folder with their files."""
    folder = tmp_path_factory.mktemp("squad")
    # Three answers of v2.0 are not to be found.
    content = read_json(SQUAD / "train-v2.json")
    content["data"] = content["data"][:1]
    qas = [q for p in content["data"][0]["paragraphs"] for q in p["qas"]]
    for qa in [qa for qa in qas if not qa["is_impossible"]][:3]:
        qa["answers"][0]["text"] = "Nowhere to be found"
    (folder / "train.json").write_text(json.dumps(content))
    write_without_spaces(folder)
    return parse_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={script_runner.SAMPLES}/vocab.txt
        --do_train --do_predict --max_seq_length=64 --max_query_length=24
        --doc_stride=16 --n_best_size=5 --train_batch_size=8
        --train_file={SQUAD}/train.json --predict_file={SQUAD}/dev.json
        --num_train_epochs=0.1 --learning_rate=1e-3
    """) | {"output_dir": folder / "run", "export_dir": folder / "served"}


@pytest.fixture(scope="module")
def answered(flags):
    """The folder of the runs, and what each said."""
    folder = flags["output_dir"].parent
    runs = {
        "v2": f"""
            --train_file=train.json --predict_file={SQUAD}/dev-v2.json
            --num_train_epochs=0.2 --version_2_with_negative --left_to_right
            --bilstm
        """,
        "few": """
            --vocab_file=vocab.txt --train_file=few.json
            --predict_file=few.json --max_seq_length=48 --max_query_length=16
            --train_batch_size=1 --num_train_epochs=40 --learning_rate=2e-3
            --use_char_offsets --report
        """,
    }
    flags = flags | {"export_dir": None}
    changes = [{"output_dir": x, **parse_flags(runs[x])} for x in runs]
    done = script_runner.run_each("run_squad.py", folder, flags, changes)
    return folder, dict(zip(runs, done, strict=True))


@pytest.fixture(scope="module")
def finished(flags):
    """Flags of a run that has ended."""
    run_task_test("run_squad.py", flags, "f1")
    return flags


def test_answers_are_cut_from_the_passages(finished):
    run = finished["output_dir"]
    asked = read_questions(SQUAD / "dev.json")
    predictions = read_json(run / "predictions.json")
    nbest = read_json(run / "nbest_predictions.json")
    assert list(predictions) == list(nbest) == list(asked)
    names = {"text", "probability", "start_logit", "end_logit"}
    for qas_id, answer in predictions.items():
        assert answer and answer in asked[qas_id][0]
        entries = nbest[qas_id]
        assert 1 <= len(entries) <= 5
        assert entries[0]["text"] == answer
        assert entries[0].keys() == names
        total = sum(entry["probability"] for entry in entries)
        assert math.isclose(total, 1, abs_tol=1e-5)
    assert not (run / "null_odds.json").exists()


@pytest.mark.slow
def test_a_finished_run_is_exported_without_questions(finished, tmp_path):
    flags = {"init_checkpoint": finished["output_dir"], "output_dir": "new"}
    flags["export_dir"] = "served"
    script_runner.run("run_squad.py", tmp_path, **flags).check()
    card = (tmp_path / "served/README.md").read_text()
    assert "finds the answer" in card and str(tmp_path) not in card


@pytest.mark.slow
def test_resumes(finished):
    check_resume("run_squad.py", finished)


@pytest.mark.slow
def test_questions_without_an_answer(answered):
    folder, _ = answered
    asked = read_questions(SQUAD / "dev-v2.json")
    predictions = read_json(folder / "v2/predictions.json")
    nbest = read_json(folder / "v2/nbest_predictions.json")
    null_odds = read_json(folder / "v2/null_odds.json")
    assert list(predictions) == list(nbest) == list(null_odds) == list(asked)
    for qas_id, answer in predictions.items():
        # The threshold is 0: none is given where "" scores higher.
        assert (answer == "") == (null_odds[qas_id] > 0)
        assert answer in asked[qas_id][0]
        assert any(entry["text"] == "" for entry in nbest[qas_id])


@pytest.mark.slow
def test_an_answer_that_is_not_there_is_warned_of_and_counted(answered):
    lines = answered[1]["v2"].stderr.splitlines()
    found = [x for x in lines if "could not find the answer" in x]
    assert len(found) == 3 and all("Nowhere to be found" in x for x in found)
    assert all("data[0].paragraphs[" in x for x in found)
    (counted,) = [x for x in lines if "at `answer_start`" in x]
    assert ": skipped 3 of " in counted


@pytest.mark.slow
def test_answers_are_the_characters_of_the_passage(answered):
    folder = answered[0] / "few"
    assert read_json(folder / "predictions.json") == {"q": ANSWER}
    assert read_results(folder)["exact_match"] == 100
    page = ReportPage((folder / "report.html").read_text("utf-8"))
    assert not page.wrong
    ((verdict, text),) = page.right
    assert QUESTION in verdict
    assert ("right predicted", ANSWER) in text
