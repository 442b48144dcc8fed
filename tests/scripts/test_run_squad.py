import json
import math

import pytest
import tensorflow as tf

from data.squad import answers
from tests import events, script_runner
from training.callbacks import history

SQUAD = script_runner.SAMPLES / "squad"


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def questions(path):
    return {
        qa["id"]: paragraph["context"]
        for article in read_json(path)["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    }


@pytest.fixture(scope="module")
def answered(tmp_path_factory, model_flags):
    """Runs on v1.1, and on v2.0 with answers that are not to be found."""
    folder = tmp_path_factory.mktemp("squad")
    content = read_json(SQUAD / "train-v2.json")
    content["data"] = content["data"][:1]
    lost = 0
    for paragraph in content["data"][0]["paragraphs"]:
        for qa in paragraph["qas"]:
            if lost < 3 and not qa["is_impossible"]:
                qa["answers"][0]["text"] = "Nowhere to be found"
                lost += 1
    assert lost == 3
    (folder / "train.json").write_text(json.dumps(content))
    flags = {
        **model_flags,
        "do_train": True,
        "do_predict": True,
        "max_seq_length": 64,
        "max_query_length": 24,
        "doc_stride": 16,
        "n_best_size": 5,
        "train_batch_size": 8,
    }
    runs = script_runner.run_all(
        [
            (
                "run_squad.py",
                folder,
                {
                    **flags,
                    "output_dir": "v1",
                    "train_file": SQUAD / "train.json",
                    "predict_file": SQUAD / "dev.json",
                    "num_train_epochs": 0.1,
                },
            ),
            (
                "run_squad.py",
                folder,
                {
                    **flags,
                    "output_dir": "v2",
                    "train_file": folder / "train.json",
                    "predict_file": SQUAD / "dev-v2.json",
                    "num_train_epochs": 0.2,
                    "version_2_with_negative": True,
                    "left_to_right": True,
                    "bilstm": True,
                },
            ),
        ]
    )
    return folder, [done.check() for done in runs]


def test_answers_are_cut_from_the_passages(answered):
    folder, (done, _) = answered
    asked = questions(SQUAD / "dev.json")
    predictions = read_json(folder / "v1/predictions.json")
    nbest = read_json(folder / "v1/nbest_predictions.json")
    assert list(predictions) == list(nbest) == list(asked)
    for qas_id, answer in predictions.items():
        assert answer and answer in asked[qas_id]
        entries = nbest[qas_id]
        assert 1 <= len(entries) <= 5
        assert entries[0]["text"] == answer
        assert set(entries[0]) == {
            "text",
            "probability",
            "start_logit",
            "end_logit",
        }
        total = sum(entry["probability"] for entry in entries)
        assert math.isclose(total, 1, abs_tol=1e-5)
    assert not (folder / "v1/null_odds.json").exists()
    # 600 questions in batches of 8, a tenth of them, rounded down.
    assert (folder / "v1/model.ckpt-7.index").is_file()
    assert "Training step 7 of 7" in done.stderr


def test_an_lstm_is_trained_and_kept(answered):
    for name, has_lstm in (("v1", False), ("v2", True)):
        path = answered[0] / name
        names = tf.train.load_checkpoint(str(path)).get_variable_to_shape_map()
        assert any("bilstm" in name for name in names) is has_lstm
        settings = read_json(path / "run_settings.json")
        assert settings.get("left_to_right", False) is has_lstm


def test_tensorboard_shows_the_scores_and_examples(answered):
    folder, _ = answered
    for name, file in (("v1", "dev.json"), ("v2", "dev-v2.json")):
        run = folder / name
        results = (run / "eval_results.txt").read_text().splitlines()
        scores = events.scalars(run)
        (step,) = scores["eval/f1"]
        (line,) = [
            line
            for line in history.read(run / history.FILE)
            if line["kind"] == "eval"
        ]
        assert line["step"] == step
        assert line["metrics"]["f1"] == pytest.approx(scores["eval/f1"][step])
        assert f"f1 = {scores['eval/f1'][step]:.4f}" in [
            f"f1 = {float(line[5:]):.4f}"
            for line in results
            if line.startswith("f1 = ")
        ]
        asked = {
            qa["question"]: qa
            for article in read_json(SQUAD / file)["data"]
            for paragraph in article["paragraphs"]
            for qa in paragraph["qas"]
        }
        predictions = read_json(run / "predictions.json")
        rows = events.texts(run)["eval/samples"][step]
        assert len(rows) == 8
        for row in rows:
            qa = asked[row["question"]]
            answer = predictions[qa["id"]] or "no answer"
            assert row["predicted"] == answer
            right = {one["text"] for one in qa["answers"]} or {"no answer"}
            assert {*row["right"].split(" | ")} == right
        assert any(row["right"] == "no answer" for row in rows) == (
            name == "v2"
        )


def test_questions_without_an_answer(answered):
    folder, (_, done) = answered
    asked = questions(SQUAD / "dev-v2.json")
    predictions = read_json(folder / "v2/predictions.json")
    nbest = read_json(folder / "v2/nbest_predictions.json")
    null_odds = read_json(folder / "v2/null_odds.json")
    assert list(predictions) == list(nbest) == list(null_odds) == list(asked)
    for qas_id, answer in predictions.items():
        # The threshold is 0: none is given where "" scores higher.
        assert (answer == "") == (null_odds[qas_id] > 0)
        assert answer in asked[qas_id]
        assert any(entry["text"] == "" for entry in nbest[qas_id])


def test_an_answer_that_is_not_there_is_warned_of_and_counted(answered):
    folder, (_, done) = answered
    warnings = done.stderr.splitlines()
    found = [x for x in warnings if "could not find the answer" in x]
    assert len(found) == 3 and all("Nowhere to be found" in x for x in found)
    assert all("data[0].paragraphs[" in x for x in found)
    counted = [x for x in warnings if "left out of training" in x]
    assert len(counted) == 1 and ": 3 of " in counted[0]


def test_scores_that_are_not_finite_leave_no_file(tmp_path):
    outputs = {
        "predictions.json": {"q": "an answer"},
        "nbest_predictions.json": {"q": [{"probability": math.nan}]},
    }
    with pytest.raises(ValueError, match="nbest_predictions.json would hold"):
        answers.write_json_files(str(tmp_path), outputs)
    assert not list(tmp_path.iterdir())
