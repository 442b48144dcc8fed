"""tools.results_table on summaries as runs write them."""

import json
import math
import os
import zipfile
import zlib

import pytest

from tests import script_runner


def write_run(folder, figures, script="run_classifier.py", more=None, **flags):
    """Writes what the tool reads of a run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    common = {"task_name": "mrpc", "learning_rate": 2e-5, "output_dir": folder}
    summary = {
        "command": [script],
        "all_flags": common | {"seed": 1} | flags,
        "settings": {"bert_config": {"hidden_size": 8}},
        "results": {"eval_results.txt": figures} if figures else {},
    } | (more or {})
    (folder / "summary.json").write_text(json.dumps(summary, default=str))


def run(folder, runs="out", **flags):
    return script_runner.run("tools.results_table", folder, runs=runs, **flags)


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def write_glue(folder):
    for seed, f1, accuracy in ((1, 0.8, 0.7), (2, 0.9, 0.8)):
        figures = {"f1": f1, "accuracy": accuracy, "eval_loss": 0.5}
        write_run(folder / f"mrpc/run_{seed}", figures, seed=seed)
    # The folder of both repeats the better one.
    write_run(folder / "mrpc", {"f1": 0.9, "f1_mean": 0.85})
    for seed, values in ((1, (0.62, 0.64)), (2, (0.60, 0.62))):
        figures = dict(zip(("accuracy", "accuracy_mm"), values, strict=True))
        write_run(folder / f"mnli/seed_{seed}", figures, task_name="MNLI")
    for seed in (1, 2):
        figures = {"accuracy": 0.4 + seed / 10}
        write_run(folder / f"wnli/seed_{seed}", figures, task_name="wnli")


def test_the_table_of_glue(tmp_path):
    write_glue(tmp_path / "out")
    done = run(tmp_path, output="out/a.md,a.json,a.txt").check()
    assert done.stdout.splitlines()[:3] == [
        "run                                  seeds  accuracy    accuracy_mm  "
        "f1          score",
        "mnli                                 2      61.0 ± 1.4  63.0 ± 1.4   "
        "            62.0 ± 1.4",
        "mrpc                                 2      75.0 ± 7.1               "
        "85.0 ± 7.1  80.0 ± 7.1",
    ]
    assert (tmp_path / "a.txt").read_text().startswith(done.stdout)
    lines = (tmp_path / "out/a.md").read_text().splitlines()
    names, _, *rows = map(cells, lines[:-2])
    score = names.index("score")
    assert {row[0]: row[score] for row in rows} == {
        "mnli": "62.0 ± 1.4",
        "mrpc": "80.0 ± 7.1",
        "wnli": "55.0 ± 7.1",
        # (75 + 63 + 50) / 3 and (85 + 61 + 60) / 3.
        "average of 3 tasks": "65.7 ± 4.2",
        # F1 of MRPC and both of MNLI: (80 + 62 + 64) / 3, (90 + 60 + 62) / 3.
        "the paper's average, 3 of 9 figures": "69.7 ± 1.4",
    }
    contents = json.loads((tmp_path / "a.json").read_text())
    by_name = {row["run"]: row for row in contents["rows"]}
    f1 = by_name["mrpc"]["figures"]["f1"]
    assert f1["values"] == pytest.approx([80, 90])
    assert f1["mean"] == pytest.approx(85)
    assert f1["deviation"] == pytest.approx(math.sqrt(50))
    assert by_name["mrpc"]["folders"] == ["out/mrpc/run_1", "out/mrpc/run_2"]
    # What it wrote itself it writes again.
    again = run(tmp_path, output="out/a.md,a.json,a.txt").check()
    assert again.stdout == done.stdout


def test_runs_of_other_settings_are_named_and_not_mixed(tmp_path):
    figures = {"f1": 0.5, "accuracy": 0.5}
    for seed, rate in ((1, 2e-5), (2, 3e-5), (3, 3e-5)):
        write_run(
            tmp_path / f"out/mrpc/seed_{seed}",
            figures,
            learning_rate=rate,
            # Each starts from weights of its own seed.
            init_checkpoint=f"teacher/seed_{seed}/model",
            seed=seed,
        )
    write_run(tmp_path / "out/sts-b/seed_1", {"pearson": 0.2}, do_eval=True)
    done = run(tmp_path, metrics="f1,pearson").check()
    assert "mrpc contains runs with different learning_rate," in done.stderr
    first, second, other = done.stdout.splitlines()[1:]
    assert first.startswith("mrpc (learning_rate=2e-05)  1 ")
    assert second.startswith("mrpc (learning_rate=3e-05)  2 ")
    assert second.endswith("50.0 ± 0.0") and other.endswith("20.0")
    done = run(tmp_path, metrics="f1,recall").check()
    assert "No run has the result recall" in done.stderr


def test_scales_names_and_losses(tmp_path):
    squad = {"f1": 88.5, "exact_match": 81.0, "global_step": 7}
    write_run(tmp_path / "a/seed_1", squad, "run_squad.py", task_name=None)
    figures = {"masked_lm_accuracy": 0.403, "masked_lm_loss": 3.4217}
    figures["loss"] = 4.0
    write_run(tmp_path / "b", figures, "run_pretraining.py", task_name=None)
    lines = run(tmp_path, "a,Two words=b").check().stdout.splitlines()
    assert [" ".join(line.split()) for line in lines[:3]] == [
        "run seeds f1 exact_match masked_lm_accuracy masked_lm_loss",
        "a 1 88.5 81.0",
        "Two words 1 40.3 3.422",
    ]


def test_what_is_missing_or_not_finite_is_named_in_one_line(tmp_path):
    for seed, accuracy in ((1, 0.5), (2, None)):
        figures = {"f1": 0.5, "accuracy": accuracy}
        write_run(tmp_path / f"out/seed_{seed}", figures)
    (tmp_path / "out/seed_3").mkdir()
    (tmp_path / "out/seed_3/history.jsonl").write_text("")
    # It has only predicted.
    write_run(tmp_path / "out/predicted", None)
    done = run(tmp_path, output="a.json").check()
    assert "Skipped unfinished runs: out/seed_3\n" in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "finite" in line]
    assert "nan: out/seed_2 (accuracy), out/seed_2 (score)" in line
    assert "nan" in done.stdout
    contents = json.loads((tmp_path / "a.json").read_text())
    accuracy = contents["rows"][0]["figures"]["accuracy"]
    unknown = dict.fromkeys(("mean", "deviation"))
    assert accuracy == {"values": [50.0, None], **unknown}
    (tmp_path / "none").mkdir()
    error = run(tmp_path, "none").error
    assert "--runs: none contains no summary.json" in error
    for text in ("{", "{}", '{"command": [], "all_flags": 1}'):
        (tmp_path / "out/seed_1/summary.json").write_text(text)
        assert "out/seed_1/summary.json" in run(tmp_path).error
    write_run(tmp_path / "out/seed_1", {"f1": 0.5, "accuracy": "high"})
    assert "out/seed_1/summary.json" in run(tmp_path).error


def test_files_of_others_are_kept(tmp_path):
    write_run(tmp_path / "out/seed_1", {"f1": 0.5, "accuracy": 0.5})
    for flags, message in (
        ({"output": "new.txt,mine.md"}, "mine.md was not written by"),
        ({"submission": "mine.zip"}, "mine.zip was not written by"),
        ({"output": "a.zip"}, "--output=a.zip must end in .md, .json or .txt"),
        ({"submission": "a.md"}, "--submission=a.md must end in .zip"),
    ):
        for name in ("mine.md", "mine.zip"):
            (tmp_path / name).write_text("my notes")
        assert f"error: {message}" in run(tmp_path, **flags).error
    assert {path.name for path in tmp_path.iterdir()} == {
        "mine.md",
        "mine.zip",
        "out",
    }


def test_the_submission(tmp_path):
    write_run(tmp_path / "out/rte", {"accuracy": 0.5}, task_name="rte")
    assert "no predictions" in run(tmp_path, submission="s.zip").error
    for name in ("RTE", "AX"):
        path = tmp_path / f"out/{name.lower()}/{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"index\tprediction\n0\t{name}\n")
    made = []
    for _ in range(2):
        done = run(tmp_path, submission="s.zip").check()
        made.append((tmp_path / "s.zip").read_bytes())
    assert made[0] == made[1]
    assert (
        "s.zip is missing CoLA.tsv, SST-2.tsv, MRPC.tsv, STS-B.tsv"
        in done.stderr
    )
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        assert archive.namelist() == ["RTE.tsv", "AX.tsv"]
        assert archive.read("AX.tsv").endswith(b"AX\n")
    (tmp_path / "out/again").mkdir()
    (tmp_path / "out/again/AX.tsv").touch()
    error = run(tmp_path, submission="s.zip").error
    assert "several files are named AX.tsv" in error


def write_tied(folder, accuracy, dev_set="a", more=None, **flags):
    more = {"fingerprint": {"run": "r", "dev_set": dev_set}} | (more or {})
    flags = {"task_name": "rte"} | flags
    write_run(folder, {"accuracy": accuracy}, more=more, **flags)


def test_runs_on_another_dev_set_are_named_and_left_out(tmp_path):
    for seed, dev_set in ((1, "b"), (2, "a"), (3, "a")):
        write_tied(tmp_path / f"out/rte/seed_{seed}", seed / 10, dev_set)
    # An earlier version did not write it.
    write_run(tmp_path / "out/rte/seed_4", {"accuracy": 0.4}, task_name="rte")
    done = run(tmp_path, output="a.json").check()
    assert (
        "Skipped runs that were evaluated on a different dev set from the run "
        "in out/rte/seed_2: out/rte/seed_1\n" in done.stderr
    )
    contents = json.loads((tmp_path / "a.json").read_text())
    figures = contents["rows"][0]["figures"]["accuracy"]
    assert figures["values"] == pytest.approx([20, 30, 40])
    # So are other rows: a dev set that was edited between two experiments.
    write_tied(tmp_path / "out/other", 0.9, "c", learning_rate=1e-3)
    done = run(tmp_path).check()
    assert ": out/rte/seed_1, out/other\n" in done.stderr
    assert "other" not in done.stdout
    # Another set on purpose has a row.
    write_tied(tmp_path / "out/other", 0.9, "c", data_dir="elsewhere")
    assert "other" in run(tmp_path).check().stdout
    (tmp_path / "out/other/summary.json").unlink()
    # Of as many on each, the latest are taken.
    (tmp_path / "out/rte/seed_3/summary.json").unlink()
    os.utime(tmp_path / "out/rte/seed_1/summary.json", (2e9, 2e9))
    assert ": out/rte/seed_2\n" in run(tmp_path).check().stderr


def test_a_row_says_what_the_weights_were_trained_with(tmp_path):
    trained = {"task_name": "rte", "learning_rate": 2e-5, "quantize": None}
    for seed, flags in (
        # Evaluated later, and trained again in vain.
        (1, {"task_name": "rte"}),
        (2, {"do_train": True, "learning_rate": 1.0}),
        (3, {"quantize": "dynamic"}),
    ):
        folder = tmp_path / f"out/seed_{seed}"
        more = {"trained_with": {"flags": trained}, "flags": flags}
        default = {"learning_rate": 5e-5, "task_name": "rte"} | flags
        write_run(folder, {"accuracy": 0.5}, more=more, **default)
    done = run(tmp_path).check()
    assert "contains runs with different quantize," in done.stderr
    rows = [line.split("  ")[0] for line in done.stdout.splitlines()]
    assert rows[1:3] == ["out (quantize=None)", "out (quantize=dynamic)"]


def test_predictions_of_other_weights_or_data_are_not_submitted(tmp_path):
    text = b"index\tprediction\n0\tentailment\n"
    path = tmp_path / "out/rte/RTE.tsv"
    files = [[path.name, len(text), zlib.crc32(text)]]

    def write(name, test_set="t", dev_set="a"):
        known = {"test_set": test_set, "files": files}
        folder = tmp_path / "out/rte" / name
        write_tied(folder, 0.5, dev_set, {"predictions": known})

    def submit():
        return run(tmp_path, submission="s.zip")

    for name in ("", "run_1", "run_2"):
        write(name)
    path.write_bytes(text)
    submit().check()
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        assert archive.read("RTE.tsv") == text
    # Left by weights that were trained further, or changed.
    refused = "out/rte/RTE.tsv was not written with the weights now in its"
    write_tied(path.parent, 0.5, more={"predictions": None})
    assert refused in submit().error
    write("")
    path.write_bytes(text.replace(b"0", b"1"))
    assert refused in submit().error
    path.write_bytes(text)
    for changes in ({"test_set": "u"}, {"dev_set": "b"}):
        write("", **changes)
        (name,) = changes
        assert (
            f"out/rte/RTE.tsv comes from a run whose {name} differs from the "
            f"{name} of out/rte/run_1" in submit().error
        )
