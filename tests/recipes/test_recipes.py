"""Recipes, end to end on small authored files."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests import script_runner
from tests.data.squad import test_triviaqa
from tests.golden import ROOT

RECIPES = ROOT / "recipes"
# What a command of a recipe gives to which script.
IN_SHELL = re.compile(r'"\$python" "\$root/(\w+\.py)"((?:.|\\\n)*)')


def run(*arguments, check=True, **environment):
    done = subprocess.run(
        list(map(str, arguments)),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHON": sys.executable} | environment,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def evaluate(*arguments, **more):
    script = RECIPES / "released-model.py"
    return run(sys.executable, script, *arguments, **more)


def commands():
    """Returns (script, arguments) of all commands of the recipes."""
    text = (RECIPES / "domain-adaptation.sh").read_text()
    found = IN_SHELL.findall(text)
    folders = ("glue", "squad", "triviaqa", "swag", "ner", "cased_model")
    printed = evaluate(
        *(f"--{name}={ROOT / 'samples'}" for name in folders),
        *("--model=m", "--output=o", "--print"),
    ).stdout
    found += re.findall(r"^python (\w+\.py)(.*)$", printed, re.M)
    return found


def test_scripts_know_the_flags_of_the_recipes():
    found = commands()
    assert len(found) > 15
    known = script_runner.documented_flags()
    for script, arguments in found:
        for flag in re.findall(r"--(\w+)", arguments):
            assert flag in known[script], (script, flag)


@pytest.mark.slow
def test_domain_adaptation(tmp_path, model):
    lines = [
        "The trabeculectomy lowers the pressure in the eye.",
        "After trabeculectomy a phacoemulsification may follow.",
        "",
    ]
    (tmp_path / "text.txt").write_text("\n".join(lines * 30))
    run(
        *("bash", RECIPES / "domain-adaptation.sh"),
        *(model, tmp_path / "text.txt", tmp_path / "out"),
        LENGTH="32",
        PRECISION="bfloat16",
        STEPS="3",
        WARMUP="1",
        NEW_WORDS="120",
        BATCH="8",
    )
    made = tmp_path / "out/model"
    vocab = (made / "vocab.txt").read_text().splitlines()
    assert "trabeculectomy" in vocab
    config = json.loads((made / "bert_config.json").read_text())
    assert config["vocab_size"] == len(vocab)
    assert (made / "bert_model.ckpt.index").is_file()
    summary = json.loads((tmp_path / "out/run/summary.json").read_text())
    flags = summary["flags"]
    # 15% of 32, rounded up.
    assert flags["max_predictions_per_seq"] == 5
    assert flags["mixed_precision"] == "bfloat16"
    assert flags["eval_input_file"].endswith("out/eval-text.tfrecord")


def write_data(folder):
    """Writes small files of every benchmark, in its own layout."""
    samples = script_runner.SAMPLES
    for name in ("glue/MRPC", "squad", "swag", "ner", "trivia/qa"):
        (folder / name).mkdir(parents=True)
    for name in ("train", "dev", "test"):
        rows = (samples / f"glue/{name}.tsv").read_text().splitlines()
        text = "\n".join(rows[:61]) + "\n"
        (folder / f"glue/MRPC/{name}.tsv").write_text(text)
    for name, released in (
        ("train", "train-v1.1"),
        ("dev", "dev-v1.1"),
        ("train-v2", "train-v2.0"),
        ("dev-v2", "dev-v2.0"),
    ):
        content = json.loads((samples / f"squad/{name}.json").read_text())
        content["data"][0]["paragraphs"] = content["data"][0]["paragraphs"][:9]
        content["data"] = content["data"][:1]
        path = folder / f"squad/{released}.json"
        path.write_text(json.dumps(content))
    endings = ",".join(f"ending{i}" for i in range(4))
    row = "A boat is near.,It,sinks .,sails .,sings .,sleeps .,1\n"
    for name in ("train", "val"):
        (folder / f"swag/{name}.csv").write_text(
            f"sent1,sent2,{endings},label\n" + row * 40
        )
    sentence = "Anna B-PER\nlives O\nin O\nRome B-LOC\n. O\n\n"
    for name in ("train", "dev"):
        (folder / f"ner/{name}.txt").write_text(sentence * 40)
    pages = folder / "trivia/evidence/wikipedia"
    pages.mkdir(parents=True)
    (pages / "Light.txt").write_text(test_triviaqa.LIGHT)
    questions = [
        test_triviaqa.question(
            number, test_triviaqa.answer("Anna Holm"), ["Light.txt"]
        )
        for number in range(40)
    ]
    (folder / "trivia/qa/wikipedia-train.json").write_text(
        json.dumps({"Data": questions})
    )


def row_names(table):
    """Returns the first cells of a table's rows."""
    return [line.split("|")[1].strip() for line in table.splitlines()[2:]]


@pytest.mark.slow
def test_glue_of_a_released_model(tmp_path, model):
    write_data(tmp_path)
    arguments = (
        *(f"--model={model}", f"--glue={tmp_path / 'glue'}"),
        *("--batches=8", "--rates=1e-4,5e-5", "--epochs=0.2"),
        *(f"--output={tmp_path / 'out'}", "--", "--max_seq_length=96"),
    )
    done = evaluate(*arguments)
    table = (tmp_path / "out/results.md").read_text()
    assert table in done.stdout
    assert row_names(table) == ["MRPC, f1"]
    figures = {}
    for rate in ("1e-4", "5e-5"):
        lines = (
            tmp_path / f"out/glue/mrpc/8-{rate}-0.2/eval_results.txt"
        ).read_text()
        figures[rate] = float(re.search(r"^f1 = (.*)$", lines, re.M)[1])
    assert f"| {100 * max(figures.values()):.1f} |" in table.splitlines()[2]
    best = max(figures, key=lambda rate: figures[rate])
    (submission,) = (tmp_path / "out").rglob("MRPC.tsv")
    assert submission.parent.name == f"best-8-{best}-0.2"
    assert evaluate(*arguments).stdout == table


@pytest.mark.slow
def test_evaluation_of_a_released_model(tmp_path, model):
    write_data(tmp_path)
    arguments = (
        *(f"--model={model}", f"--cased_model={model}", "--ensemble=2"),
        *(f"--{name}={tmp_path / name}" for name in ("squad", "swag", "ner")),
        f"--triviaqa={tmp_path / 'trivia'}",
        f"--output={tmp_path / 'out'}",
        *("--", "--max_seq_length=96", "--train_batch_size=8"),
        "--num_train_epochs=0.2",
    )
    done = evaluate(*arguments)
    table = (tmp_path / "out/results.md").read_text()
    assert table in done.stdout
    assert row_names(table) == [
        "SQuAD v1.1 after TriviaQA, F1",
        "SQuAD v1.1 after TriviaQA, F1",
        "SQuAD v2.0, F1",
        "SWAG, accuracy",
        "CoNLL-2003, F1",
    ]
    # Two seeds of SQuAD, and four others.
    checkpoints = (tmp_path / "out").rglob("model.ckpt-*.index")
    assert len({*(path.parent for path in checkpoints)}) == 6
    again = evaluate(*arguments)
    assert again.stdout == table
    assert (tmp_path / "out/results.md").read_text() == table
