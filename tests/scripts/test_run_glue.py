"""run_glue.py: a suite of two seeds that is stopped, and goes on."""

import json
import zipfile

import pytest

from tests import script_runner


def write_rte(folder):
    folder.mkdir(parents=True)
    texts = ("the river is red", "a blue boat on the water")
    labels = ("entailment", "not_entailment")
    for name, count in (("train", 8), ("dev", 6), ("test", 3)):
        header = ["index", "sentence1", "sentence2", "label"]
        rows = [
            [str(i), texts[0], texts[i % 2], labels[i % 2]]
            for i in range(count)
        ]
        if name == "test":
            header, rows = header[:3], [row[:3] for row in rows]
        lines = ["\t".join(row) for row in [header, *rows]]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def flags(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("glue")
    write_rte(folder / "data" / "RTE")
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


def test_a_suite_goes_on_where_it_was_stopped(flags):
    out = flags["output_dir"]
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
    assert f"Done before: {out}/rte/seed_3" in done.stderr
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
    assert "It has no CoLA.tsv" in done.stderr


def test_what_cannot_work_is_named(flags):
    changes = {
        "--seeds: 'x'": {"seeds": "1,x"},
        "--seeds=1,1": {"seeds": "1,1"},
        "MRPC/train.tsv is not there": {"tasks": "mrpc"},
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
