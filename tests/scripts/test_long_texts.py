"""run_classifier.py --doc_stride on texts whose last word alone tells."""

import json
import random
import shutil

import numpy as np
import pytest

import serving
from tests import script_runner
from tests.data.test_report import ReportPage
from tests.script_runner import (
    check_refusals,
    parse_flags,
    read_lines,
    read_results,
)

pytestmark = pytest.mark.slow

FILLING = "the boat and the sea at noon in the harbor of the river".split()
TRAINING = """
    --doc_stride=7 --do_train --do_eval --do_predict --train_batch_size=16
    --learning_rate=3e-3 --num_train_epochs=8
    --output_dir=run --export_dir=export
"""


def write_table(path, count, seed):
    draw = random.Random(seed)
    lines = ["text,label"]
    for _ in range(count):
        label = draw.choice(["red", "blue"])
        words = draw.choices(FILLING, k=draw.randint(16, 40))
        lines.append(f"{' '.join(words)} {label},{label}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny):
    """(folder, flags, Done) of a run that reads windows, and its export."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "data").mkdir()
    for seed, (name, count) in enumerate((("train", 96), ("dev", 40))):
        write_table(folder / f"data/{name}.csv", count, seed)
    shutil.copy(folder / "data/dev.csv", folder / "data/test.csv")
    flags = parse_flags(f"""
        --task_name=csv --data_dir=data --max_seq_length=16
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={script_runner.SAMPLES}/vocab.txt
    """)
    done = script_runner.run(
        "run_classifier.py",
        folder,
        **flags,
        **parse_flags(f"""
            {TRAINING} --report
            --export_format=litert,saved_model
        """),
    ).check()
    return folder, flags, done


def test_steps_count_windows_and_scores_count_texts(trained):
    folder, _, done = trained
    for name, count in (("train", 96), ("eval", 40)):
        found = f"The {name} set: {count} examples in "
        (line,) = (x for x in done.stderr.splitlines() if found in x)
        num_records = int(line.split()[-2])
        assert num_records > 3 * count
        if name == "train":
            results = read_results(folder / "run")
            assert results["global_step"] == num_records * 8 // 16
    assert "96 of 96 texts were longer than --max_seq_length=16" in done.stderr
    assert results["eval_accuracy"] > 0.9
    # So the export accepts no second text.
    assert serving.load(folder / "export").settings["num_texts"] == 1
    rows = read_lines(folder / "run/predictions.jsonl")
    assert len(rows) == 40
    right = [row["label"] == row["gold_label"] for row in rows]
    assert results["eval_accuracy"] == pytest.approx(np.mean(right))
    scores = [row["probabilities"][row["gold_label"]] for row in rows]
    # The test set is the dev set; the loss is of a text's pooled logits.
    assert results["eval_loss"] == pytest.approx(
        -np.mean(np.log(scores)), abs=1e-5
    )
    page = ReportPage((folder / "run/report.html").read_text("utf-8"))
    assert len(page.wrong) == 40 - sum(right)


def test_exports_are_scored_and_answer_as_the_run(trained):
    folder = trained[0]
    results = read_results(folder / "run")
    exported = read_results(folder / "run", "export_eval_results.txt")
    for form in ("litert", "saved_model"):
        assert exported[f"{form}_eval_accuracy"] == results["eval_accuracy"]
    rows = read_lines(folder / "run/predictions.jsonl")
    texts = [row["text_a"] for row in rows]
    for engine in ("litert", "saved_model"):
        answers = serving.load(folder / "export", engine=engine).classify(texts)
        for row, answer in zip(rows, answers, strict=True):
            assert answer["label"] == row["label"]
            assert answer["probabilities"] == pytest.approx(
                row["probabilities"], abs=1e-4
            )
            assert "num_wordpieces_cut" not in answer


def test_the_folder_brings_the_windows_and_flags_count(trained, tmp_path):
    folder, flags, _ = trained
    for path in (folder / "run/model.json", folder / "export/model.json"):
        task = json.loads(path.read_text())["task"]
        assert task["doc_stride"] == 7
    evaluating = parse_flags("--do_eval --task_name=csv --data_dir=data")
    changes = (
        {"output_dir": tmp_path / "same"},
        {"output_dir": tmp_path / "cut", "doc_stride": 0},
    )
    evaluating["init_checkpoint"] = folder / "run"
    script_runner.run_each("run_classifier.py", folder, evaluating, changes)
    expected = read_results(folder / "run")
    loss = {
        name: read_results(tmp_path / name)["eval_loss"]
        for name in ("same", "cut")
    }
    assert loss["same"] == pytest.approx(expected["eval_loss"], rel=1e-4)
    # Without its end, no text tells its label.
    assert read_results(tmp_path / "cut")["eval_accuracy"] < 0.8
    # A resume keeps its windows, which fit into the length.
    training = {**flags, "output_dir": "run", "do_train": True}
    glue = f"--task_name=mrpc --data_dir={script_runner.SAMPLES}/glue"
    cases = [
        ("--doc_stride=5", "--doc_stride=7"),
        ("--doc_stride=15 --output_dir=new", "--max_seq_length=16"),
        (f"--doc_stride=7 --output_dir=new {glue}", "pairs"),
    ]
    check_refusals(folder, "run_classifier.py", training, cases)


@pytest.mark.parametrize("mode", ["multilabel", "regression"])
def test_several_labels_and_numbers(mode, trained, tmp_path):
    folder, flags, _ = trained
    for name in ("train", "dev", "test"):
        table = (folder / f"data/{name}.csv").read_text()
        if mode == "regression":
            table = table.replace(",red", ",1.5").replace(",blue", ",0")
        else:
            table = table.replace(",red", ',"red,warm"')
        (tmp_path / f"{name}.csv").write_text(table)
    script_runner.run(
        "run_classifier.py",
        tmp_path,
        **flags
        | parse_flags(f"""
            {TRAINING} --data_dir=. --output_mode={mode}
            --export_format=litert
        """),
    ).check()
    results = read_results(tmp_path / "run")
    exported = read_results(tmp_path / "run", "export_eval_results.txt")
    name = "pearson" if mode == "regression" else "accuracy"
    assert results[name] > 0.5
    assert exported[f"litert_{name}"] == pytest.approx(results[name], abs=1e-3)
    rows = read_lines(tmp_path / "run/predictions.jsonl")
    assert len(rows) == 40
    bert = serving.load(tmp_path / "export")
    for row in rows[:5]:
        answer = bert.classify(row["text_a"])
        if mode == "regression":
            assert answer["value"] == pytest.approx(row["label"], abs=1e-4)
        else:
            assert answer["label"] == row["label"]
            assert answer["probabilities"] == pytest.approx(
                row["probabilities"], abs=1e-4
            )
