"""The recipes run to their end on the samples, and again do nothing twice."""

import json
import subprocess
import sys

import pytest

from tests.golden import ROOT
from tests.recipes.conftest import write_small_bert

SAMPLES = ROOT / "samples"


def start(cwd, recipe, *more, **flags):
    command = [sys.executable, ROOT / "recipes" / recipe, *more]
    command += [f"--{name}={value}" for name, value in flags.items()]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def run(*arguments, **flags):
    done = start(*arguments, **flags)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refusal(*arguments, **flags):
    """Returns the error of a recipe that ends before it runs anything."""
    done = start(*arguments, **flags)
    assert done.returncode and "$ python" not in done.stdout
    return done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def small_bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipes")
    (folder / "data").mkdir()
    (folder / "data" / "MRPC").symlink_to(SAMPLES / "glue")
    flags = {
        "corpus": SAMPLES / "corpus.txt",
        "size": "sample",
        "output_dir": "bert",
        "glue_dir": "data",
    }
    return folder, flags, run(folder, "small-bert-from-scratch.py", **flags)


def test_folders_are_checked_before_anything_is_trained(tmp_path):
    (tmp_path / "glue").mkdir()
    flags = {"corpus": SAMPLES / "corpus.txt", "output_dir": "bert"}
    recipe = "small-bert-from-scratch.py"
    error = refusal(tmp_path, recipe, glue_dir="glue", **flags)
    assert error.startswith("error: --glue_dir=glue has none of the tasks'")
    error = refusal(tmp_path, recipe, glue_dir="", **flags)
    assert "--glue_dir: is empty" in error
    error = refusal(tmp_path, recipe, tasks="mrpc", **flags)
    assert "--tasks needs --glue_dir" in error
    error = refusal(tmp_path, recipe, glue_dir="glue", tasks="x", **flags)
    assert error.startswith("error: --tasks=x is not known")
    error = refusal(tmp_path, recipe, **flags | {"corpus": "none.txt"})
    assert error.startswith("error: --corpus: ") and "none.txt" in error
    assert not (tmp_path / "bert").exists()
    write_small_bert(tmp_path)
    flags = {"model_dir": ".", "data_dir": "glue", "output_dir": "rows"}
    error = refusal(tmp_path, "ablations.py", row="1 x 128", **flags)
    assert error.startswith("error: --data_dir=glue has none of the folders")


def test_rows_of_ablations_share_their_pretraining(tmp_path):
    (tmp_path / "MRPC").symlink_to(SAMPLES / "glue")
    flags = {"model_dir": ".", "data_dir": ".", "output_dir": "rows"}
    error = refusal(tmp_path, "ablations.py", **flags)
    assert "--model_dir: settings.json has no phases; give the output" in error
    write_small_bert(tmp_path)
    # All rows, of which some need data that is not there.
    error = refusal(tmp_path, "ablations.py", **flags)
    assert "has none of the folders conll2003" in error
    flags["row"] = "100% [MASK]"
    (tmp_path / "rows/1_x_128/pretraining").mkdir(parents=True)
    error = refusal(tmp_path, "ablations.py", **flags)
    assert "pretraining is there without rows/pretraining.json" in error
    settings = tmp_path / "rows/pretraining.json"
    settings.write_text('{"num_train_steps": 5}')
    error = refusal(tmp_path, "ablations.py", **flags)
    assert "rows/pretraining.json is of other settings" in error


def test_a_small_bert_goes_on_with_its_own_settings(tmp_path):
    flags = {"corpus": SAMPLES / "corpus.txt", "output_dir": "."}
    recipe = "small-bert-from-scratch.py"
    (tmp_path / "vocab.txt").touch()
    error = refusal(tmp_path, recipe, **flags)
    assert "vocab.txt is there without settings.json" in error


@pytest.mark.slow
def test_small_bert_from_scratch(small_bert):
    folder, flags, shown = small_bert
    for line in (
        "pretraining_1 masked_lm_accuracy",
        "pretraining_3 next_sentence_accuracy",
    ):
        assert f"| {line} | 0." in shown
    assert (folder / "bert/glue/glue.md").read_text() in shown
    manifest = json.loads(
        (folder / "bert" / "records_64.manifest.json").read_text()
    )
    assert manifest["eval_shards"][0]["path"] == "bert/eval-records_64"
    # The phases of one length share their records, and each starts where the
    # one before it ended.
    second, third = (
        json.loads(
            (folder / f"bert/pretraining_{number}/summary.json").read_text()
        )
        for number in (2, 3)
    )
    assert second["flags"]["input_file"] == third["flags"]["input_file"]
    assert third["flags"]["init_checkpoint"].endswith("_2/model.ckpt-20")
    page = (folder / "bert/curves.html").read_text()
    for name in ("1. 32 WordPieces", "2. 64 WordPieces", "3. 64 WordPieces"):
        assert name in page
    # The same command resumes; here everything is done already.
    checkpoint = folder / "bert/pretraining_3/model.ckpt-10.index"
    made = checkpoint.stat().st_mtime_ns
    again = run(folder, "small-bert-from-scratch.py", **flags)
    assert again.splitlines()[-5:] == shown.splitlines()[-5:]
    assert checkpoint.stat().st_mtime_ns == made


@pytest.mark.slow
def test_worth(small_bert, tmp_path):
    folder, _, _ = small_bert
    flags = {
        "model_dir": folder / "bert",
        "start": f"mine={folder}/bert/pretraining_3/model.ckpt-10",
        "data_dir": folder / "data",
        "output_dir": tmp_path / "worth",
        "seed": 1,
    }
    rates = ["--learning_rate", "0.0001", "0.01"]
    shown = run(tmp_path, "worth.py", *rates, **flags)
    assert "| task | random | mine |" in shown
    figures = json.loads((tmp_path / "worth/worth.json").read_text())
    assert figures.keys() == {"MRPC"}
    assert figures["MRPC"].keys() == {"random", "mine"}
    for found in figures["MRPC"].values():
        # The better rate stands in the table.
        assert [len(each) for each in found.values()] == [1, 1]
        rate, (figure,) = max(found.items(), key=lambda each: each[1])
        assert f" {100 * figure:.1f} ({rate}) |" in shown
    # A row that is done is not done again.
    again = run(tmp_path, "worth.py", *rates, **flags)
    assert "run_classifier.py" in shown and "run_classifier.py" not in again
    assert again.splitlines()[-3:] == shown.splitlines()[-3:]


@pytest.mark.slow
def test_ablations(small_bert, tmp_path):
    folder, _, _ = small_bert
    flags = {
        "model_dir": folder / "bert",
        "data_dir": folder / "data",
        "output_dir": tmp_path / "ablations",
        "row": "no next sentence",
        "seed": 1,
        "num_train_steps": 10,
        "train_batch_size": 8,
    }
    shown = run(tmp_path, "ablations.py", **flags)
    (row,) = [line for line in shown.splitlines() if "no next" in line[:30]]
    _, _, perplexity, accuracy, mrpc, *others, paper, _ = row.split("|")
    assert float(perplexity) > 100 and 0 <= float(accuracy) < 0.5
    assert 20 < float(mrpc) < 90 and not "".join(others).strip()
    assert "MRPC 86.5" in paper
    summary = json.loads(
        (
            tmp_path / "ablations/no_next_sentence/pretraining/summary.json"
        ).read_text()
    )
    assert summary["flags"]["next_sentence"] is False


@pytest.mark.soak
def test_ablations_with_a_bilstm_share_what_is_pretrained(small_bert, tmp_path):
    folder, _, _ = small_bert
    lines = ["The O", "harbor O", "of O", "Rome B-LOC", ". O", ""] * 16
    (tmp_path / "conll2003").mkdir()
    (tmp_path / "MRPC").symlink_to(SAMPLES / "glue")
    for name in ("train", "valid"):
        (tmp_path / "conll2003" / f"{name}.txt").write_text("\n".join(lines))
    output = tmp_path / "ablations"
    commands = {}
    for row in (
        "left-to-right, no next sentence",
        "left-to-right with a BiLSTM",
        "NER, fine-tuned",
        "NER by features and a BiLSTM",
    ):
        commands[row] = run(
            tmp_path,
            "ablations.py",
            model_dir=folder / "bert",
            data_dir=tmp_path,
            output_dir=output,
            row=row,
            seed=1,
            num_train_steps=10,
            train_batch_size=8,
        )
    shown = commands["left-to-right with a BiLSTM"]
    assert "--left_to_right --bilstm" in shown
    shown = commands["NER by features and a BiLSTM"]
    assert "--freeze_layers=3" in shown and "--left_to_right" not in shown
    # One pretraining for each pair.
    assert len(list(output.glob("*/pretraining"))) == 2
    assert len([line for line in shown.splitlines() if "| 0.0" in line]) >= 4
