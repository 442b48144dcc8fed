"""run_glue.py: a suite of two seeds that is stopped and resumed."""

import json
import os
import subprocess
import sys
import zipfile

import pytest

import run_glue
from tests import script_runner

TEXTS = ("the river is red", "a blue boat on the water")
ENTAILMENT = ("entailment", "not_entailment")
# {folder: (columns, number of the text's column or the first of two, labels,
# number of the label's column)}, as GLUE's files have them.
LAYOUTS = {
    "CoLA": ("source label mark sentence", 3, "01", 1),
    "SST-2": ("sentence label", 0, "01", 1),
    "MRPC": ("Quality id1 id2 string1 string2", 3, "01", 0),
    "STS-B": ("index sentence1 sentence2 score", 1, ("0.5", "4.5"), 3),
    "QQP": ("id qid1 qid2 question1 question2 is_duplicate", 3, "01", 5),
    "MNLI": (
        "a b c d e f g h sentence1 sentence2 gold_label",
        8,
        ("neutral", "contradiction", "entailment"),
        10,
    ),
    "QNLI": ("index question sentence label", 1, ENTAILMENT, 3),
    "RTE": ("index sentence1 sentence2 label", 1, ENTAILMENT, 3),
    "WNLI": ("index sentence1 sentence2 label", 1, "01", 3),
}


def write_task(folder, name):
    """Writes a task's files: 8 examples, 6 to evaluate, 3 to predict."""
    columns, text, labels, label = LAYOUTS[name]
    columns = columns.split()
    num_texts = 1 if name in ("CoLA", "SST-2") else 2
    (folder / name).mkdir(parents=True)
    files = {"train": 8, "dev": 6, "test": 3}
    if name == "MNLI":
        files = {"train": 8} | {
            f"{file}_{kind}matched": count
            for file, count in (("dev", 6), ("test", 3))
            for kind in ("", "mis")
        }
    for file, count in files.items():
        rows = []
        for i in range(count):
            row = [str(i)] * len(columns)
            row[text : text + num_texts] = [TEXTS[0], TEXTS[i % 2]][-num_texts:]
            row[label] = labels[i % len(labels)]
            rows.append(row)
        header = columns
        if file.startswith("test") and name in ("CoLA", "SST-2"):
            header = ["index", "sentence"]
            rows = [[row[0], row[text]] for row in rows]
        elif file.startswith("test") and name != "MRPC":
            header, rows = header[:-1], [row[:-1] for row in rows]
        if name != "CoLA" or file == "test":
            rows = [header, *rows]
        lines = "".join("\t".join(row) + "\n" for row in rows)
        (folder / name / f"{file}.tsv").write_text(lines)


@pytest.fixture(scope="module")
def flags(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("glue")
    for name in ("RTE", "WNLI"):
        write_task(folder / "data", name)
    return {
        "glue_dir": folder / "data",
        "output_dir": folder / "out",
        "bert_config_file": tiny / "bert_config.json",
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "max_seq_length": 24,
        "train_batch_size": 4,
        "num_train_epochs": 1,
        "learning_rate": 1e-3,
    }


@pytest.mark.slow
def test_a_suite_resumes_where_it_was_stopped(flags):
    out = flags["output_dir"]
    flags = flags | {"tasks": "rte"}
    script_runner.run("run_glue.py", out.parent, seeds="3", **flags).check()
    first = json.loads((out / "glue.json").read_text())
    weights = out / "rte" / "seed_3" / "model.ckpt-2.index"
    before = weights.stat().st_mtime_ns
    done = script_runner.run(
        "run_glue.py",
        out.parent,
        seeds="3,5",
        glue_submission=True,
        **flags,
    ).check()
    # The first seed was done, and is not touched.
    assert f"Already done: {out}/rte/seed_3" in done.stderr
    assert weights.stat().st_mtime_ns == before
    summary = json.loads((out / "glue.json").read_text())
    rte = summary["tasks"]["rte"]
    assert rte["seeds"] == [3, 5]
    assert rte["score"]["values"][0] == first["average"]["mean"]
    for seed, value in zip((3, 5), rte["score"]["values"], strict=True):
        results = (
            out / "rte" / f"seed_{seed}" / "eval_results.txt"
        ).read_text()
        assert f"accuracy = {value / 100}" in results
    table = (out / "glue.txt").read_text()
    assert done.stdout == table
    assert table.splitlines()[1].startswith("RTE")
    assert (out / "glue.md").read_text().startswith("| task | metrics |")
    with zipfile.ZipFile(out / "submission.zip") as archive:
        assert archive.namelist() == ["RTE.tsv"]
        assert len(archive.read("RTE.tsv").splitlines()) == 4
    assert "It lacks CoLA.tsv" in done.stderr
    # Interpreters that order their sets differently know what is done.
    again = flags | {"seeds": "3,5", "glue_submission": True}
    for hash_seed in "12":
        command = [sys.executable, script_runner.ROOT / "run_glue.py"]
        command += [f"--{name}={value}" for name, value in again.items()]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        shown = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        assert shown.stdout == table
        assert shown.stderr.count("Already done") == 3
    # Weights do not pass for those of other flags, even unfinished ones.
    for seed, record in (("7", '{"arguments": ["--a=1"]}'), ("8", None)):
        begun = out / f"rte/seed_{seed}"
        begun.mkdir()
        (begun / "model.ckpt-1.index").touch()
        if record:
            (begun / "glue.json").write_text(record)
    for seeds, *texts in (
        ("3", "with other flags: --learning_rate=0.001; this command has "),
        ("9,7", "with other flags: --a=1; this command has "),
        ("9,8", "has checkpoints, but no glue.json that says which flags"),
    ):
        other = flags | {"seeds": seeds, "learning_rate": 5e-5}
        refused = script_runner.run("run_glue.py", out.parent, **other)
        for text in (f"{out}/rte/seed_{seeds[-1]}", *texts):
            assert text in refused.error
    assert not (out / "rte/seed_9").exists()
    assert (out / "glue.txt").read_text() == table
    # The table keeps tasks that another command ran.
    more = flags | {"seeds": "3", "tasks": "wnli"}
    script_runner.run("run_glue.py", out.parent, **more).check()
    summary = json.loads((out / "glue.json").read_text())
    assert list(summary["tasks"]) == (both := ["rte", "wnli"])
    assert summary["tasks"]["rte"]["score"] == first["tasks"]["rte"]["score"]
    # But not those of other flags, whichever has more of them; --verbose
    # changes nothing.
    for fewer, verbose, kept in ((None, None, ["wnli"]), (1e-3, True, both)):
        (out / "wnli/seed_3").rename(out / f"wnli/before_{verbose}")
        more |= {"learning_rate": fewer, "verbose": verbose}
        script_runner.run("run_glue.py", out.parent, **more).check()
        summary = json.loads((out / "glue.json").read_text())
        assert list(summary["tasks"]) == kept


def test_what_cannot_work_is_named(flags, tmp_path):
    # The second task cannot be predicted, so the first is not trained either.
    for name in ("CoLA", "RTE"):
        write_task(tmp_path, name)
    (tmp_path / "RTE" / "test.tsv").unlink()
    changes = {
        "--seeds: 'x'": {"seeds": "1,x"},
        "--seeds=1,1": {"seeds": "1,1"},
        "MRPC/train.tsv is not there": {"tasks": "mrpc"},
        "RTE/test.tsv is not there": {
            "glue_dir": tmp_path,
            "glue_submission": True,
        },
        "Unknown command line flag 'do_eval'": {"do_eval": True},
        "run_classifier.py ended with status 1": {"freeze_layers": 9},
    }
    done = script_runner.run_all(
        [
            (
                "run_glue.py",
                flags["glue_dir"],
                {**flags, "output_dir": "x", **more},
            )
            for more in changes.values()
        ]
    )
    for message, one in zip(changes, done, strict=True):
        lines = [x for x in one.stderr.splitlines() if x.startswith("error: ")]
        assert one.status == 1
        assert message in lines[-1]
        assert "*****" not in one.stderr or "ended with status" in message


def test_flags_may_be_corrected_until_something_is_trained(tmp_path):
    record = tmp_path / "glue.json"
    run_glue.check_run(record, ["--a=1"])
    record.write_text('{"arguments": ["--a=1"]}')
    run_glue.check_run(record, ["--a=2"])
    (tmp_path / "model.ckpt-1.index").touch()
    run_glue.check_run(record, ["--a=1", "--debug", "--output_dir=moved"])
    with pytest.raises(ValueError, match="flags: --a=1; this command has --a="):
        run_glue.check_run(record, ["--a=2"])
    record.write_text("{}")
    with pytest.raises(ValueError, match="json is not a record of run_glue.py"):
        run_glue.check_run(record, ["--a=1"])


def test_a_figure_that_is_not_finite_counts_as_0_and_is_named(caplog):
    figures = {"pearson": None, "loss": 1.5}
    found = run_glue.make_finite(figures, "sts-b/seed_1")
    assert found == {"pearson": 0.0, "loss": 1.5}
    (record,) = caplog.records
    assert record.getMessage() == (
        "sts-b/seed_1: pearson is not finite; counted as 0"
    )


@pytest.mark.soak
def test_all_of_glue_makes_a_whole_submission(flags, tmp_path, monkeypatch):
    monkeypatch.setattr(script_runner, "TIMEOUT", 3600)
    for name in LAYOUTS:
        write_task(tmp_path, name)
    (tmp_path / "diagnostic").mkdir()
    rows = ["index\tsentence1\tsentence2", f"0\t{TEXTS[0]}\t{TEXTS[1]}"]
    table = "\n".join(rows) + "\n"
    (tmp_path / "diagnostic" / "diagnostic.tsv").write_text(table)
    script_runner.run(
        "run_glue.py",
        tmp_path,
        glue_submission=True,
        evaluate_each_epoch=True,
        **flags | {"glue_dir": tmp_path, "output_dir": tmp_path / "out"},
    ).check()
    summary = json.loads((tmp_path / "out" / "glue.json").read_text())
    assert len(summary["tasks"]) == 9
    scores = [task["score"]["mean"] for task in summary["tasks"].values()]
    average = pytest.approx(sum(scores) / 9)
    assert summary["average"]["mean"] == average
    with zipfile.ZipFile(tmp_path / "out" / "submission.zip") as archive:
        lines = {
            name: archive.read(name).count(b"\n") for name in archive.namelist()
        }
    names = ["AX", "MNLI-m", "MNLI-mm", *LAYOUTS.keys() - {"MNLI"}]
    assert lines == {f"{name}.tsv": 2 if name == "AX" else 4 for name in names}
