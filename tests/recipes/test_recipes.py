"""The recipes' commands, recorded by a stand-in for Python, and run."""

import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from docs import flags_index
from tests import script_runner
from tests.conftest import TINY
from tests.golden import ROOT

RECIPES = ROOT / "examples/recipes"
SAMPLES = script_runner.SAMPLES
NAMES = sorted(path.name for path in RECIPES.glob("*.sh"))
# Records a command, and writes what later commands of a recipe read.
STAND_IN = f"""#!/bin/bash
[ "$1" != -c ] || exec {sys.executable} "$@"
printf '%s\\x1f' "$@" >> "$CALLS"
echo >> "$CALLS"
for flag; do
  path=${{flag#*=}}
  case $flag in
    --output_dir=*)
      mkdir -p "$path"
      for name in accuracy eval_accuracy matthews pearson spearman f1; do
        # The higher learning rate is the better one.
        case $* in *=3e-4*) echo "$name = 0.9" ;; *) echo "$name = 0.1" ;; esac
      done > "$path/eval_results.txt"
      ;;
    --output_file=*)
      mkdir -p "$(dirname "$path")"
      echo "[PAD]" | tee "$path" > "$(dirname "$path")/eval-$(basename "$path")"
      ;;
    --export_weights=*)
      mkdir -p "$path"
      echo '{{"num_hidden_layers": 6}}' > "$path/bert_config.json"
      ;;
  esac
done
"""


def bash(recipe, *arguments, check=True, **environment):
    done = subprocess.run(
        ["bash", RECIPES / recipe, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHON": sys.executable} | environment,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def lines_of(*rows):
    return "".join("\t".join(row) + "\n" for row in rows)


def write_data(folder):
    """Writes all that the recipes read, as small as can be."""
    names = "MRPC CoLA RTE QQP MNLI WNLI QNLI SST-2 STS-B conll2003 swag squad"
    for name in (*names.split(), "trivia/evidence", "trivia/qa", "AX"):
        (folder / name).mkdir(parents=True)
        (folder / name / "train.tsv").write_text(lines_of("ab", "cd"))
    (folder / "AX/diagnostic.tsv").touch()
    rows = [("sentence", "label"), *(("s", str(n)) for n in range(20_010))]
    for name in ("train", "dev"):
        (folder / f"SST-2/{name}.tsv").write_text(lines_of(*rows))
    (folder / "QNLI/dev.tsv").write_text(lines_of(*rows[:1012]))
    pairs = [(str(n), *"abcdef", f"one{n}", f"two{n}", "1.0") for n in range(9)]
    (folder / "STS-B/train.tsv").write_text(lines_of(*pairs))
    (folder / "STS-B/dev.tsv").write_text(lines_of(pairs[0], *pairs[3:5]))
    articles = json.dumps({"version": "1.1", "data": [*range(20)]})
    for name in ("train-v1.1", "dev-v1.1", "train-v2.0", "dev-v2.0"):
        (folder / f"squad/{name}.json").write_text(articles)
    (folder / "trivia/qa/wikipedia-train.json").touch()
    config = {"hidden_dropout_prob": 0.0, "num_hidden_layers": 6}
    (folder / "bert").mkdir()
    (folder / "bert/bert_config.json").write_text(json.dumps(config, indent=2))
    for name in ("vocab.txt", "model.ckpt-9.index", "eval-records_32"):
        (folder / "bert" / name).write_text("[PAD]\n")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The commands of each recipe: {recipe: [(script, {flag: value})]}."""
    folder = tmp_path_factory.mktemp("recorded")
    stand_in = folder / "python"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    write_data(folder)
    (folder / "worth/data/SST-2").mkdir(parents=True)
    (folder / "worth/data/SST-2/dev.tsv").write_text("mine")
    bert, corpus = folder / "bert", SAMPLES / "corpus.txt"
    data = {
        "GLUE": folder,
        "SQUAD": folder / "squad",
        "TRIVIAQA": folder / "trivia",
        "SWAG": folder / "swag",
        "NER": folder / "conll2003",
        "CASED_MODEL": bert,
    }
    arguments = {
        "ablations": (bert, folder, folder / "ablations"),
        "domain-adaptation": (bert, corpus, folder / "domain"),
        "glue": (bert, folder, folder / "glue", "--learning_rate=3e-5"),
        "released-model": (bert, folder / "released", "--weight_decay=0.02"),
        "small-bert-from-scratch": (corpus, folder / "small", folder),
        "small-models": (bert, folder, folder / "small-models"),
        "worth": (bert, folder, folder / "worth", f"mine={bert}/model.ckpt-9"),
    }
    assert {f"{name}.sh" for name in arguments} == {*NAMES} - {"common.sh"}
    found = {}
    for name, given in arguments.items():
        calls = folder / f"{name}.calls"
        bash(
            f"{name}.sh",
            *given,
            PYTHON=str(stand_in),
            CALLS=str(calls),
            SUBMISSION="1",
            SEEDS="1 2",
            ENSEMBLE="2",
            **{key: str(path) for key, path in data.items()},
        )
        found[name] = []
        for line in calls.read_text().splitlines():
            script, *flags = [
                part for part in line.split("\x1f") if part not in ("-m", "")
            ]
            flags = dict(flag[2:].partition("=")[::2] for flag in flags)
            found[name].append((Path(script).name, flags))
    return folder, found


def count(commands, **flags):
    """Returns how many commands have these flags."""
    return sum(flags.items() <= given.items() for _, given in commands)


def test_scripts_know_the_flags_of_the_recipes(recorded):
    known = flags_index.read_flags()
    for name, commands in recorded[1].items():
        text = (RECIPES / f"{name}.sh").read_text()
        text = re.sub(r"^#.*", "", text, flags=re.M)
        written = set(re.findall(r"(?<![\w-])--(\w+)", text))
        given = set()
        for script, flags in commands:
            assert flags.keys() <= known[script].keys(), (name, script)
            given |= flags.keys()
        # Each line of a recipe has run.
        assert written <= given, name


def test_the_commands_of_each_recipe(recorded):
    _, found = recorded
    numbers = {
        name: collections.Counter(script for script, _ in commands)
        for name, commands in found.items()
    }
    tuned = "run_classifier.py"
    # 9 tasks and the diagnostics.
    assert numbers["glue"][tuned] == 10
    assert count(found["glue"], num_train_runs="3", do_train="") == 9
    # 12 settings of 8 tasks, and their predictions; TriviaQA, two seeds, their
    # ensemble and SQuAD 2.0.
    assert numbers["released-model"][tuned] == 8 * 13
    assert numbers["released-model"]["run_squad.py"] == 5
    models = [c for c in found["released-model"] if c[0].startswith("run_")]
    assert count(models, weight_decay="0.02") == len(models)
    # Two seeds of five tasks in a row, of three in three more.
    small = found["small-models"]
    assert count(small, init_layers="1,3,5") == 2 * 3 * 3
    assert count(small, distill_layers="") == 2 * 3
    assert len(small) == 1 + 2 * (5 + 3 * 3)
    assert count(small, quantize="int8") == 2 * (5 + 3)
    # Two starts of eight tasks: two rates, then the better one.
    assert len(found["worth"]) == 1 + 2 * 8 * 3
    assert count(found["worth"], seed="2", learning_rate="3e-4") == 16
    assert count(found["worth"], num_train_epochs="3") == 2 * 2 * 3
    # Eleven networks, of which "as it is" is asked for twice.
    ablations = found["ablations"]
    assert numbers["ablations"]["run_pretraining.py"] == 12
    assert count(ablations, bilstm="") == 2 * (3 + 1)
    assert count(ablations, left_to_right="", bilstm="") == 2 * 3
    assert count(ablations, mask_token_prob="0.0") == 2
    phases = [
        flags["num_train_steps"]
        for script, flags in found["small-bert-from-scratch"]
        if script == "run_pretraining.py"
    ]
    assert phases == ["2500", "27000"]


def test_the_parts_of_the_tasks(recorded):
    folder, _ = recorded
    parts = folder / "worth/data"

    def rows(name):
        return (parts / name).read_text().splitlines()

    assert len(rows("SST-2/train.tsv")) == 20_001
    # A user's file is kept.
    assert rows("SST-2/dev.tsv") == ["mine"]
    assert len(rows("QNLI/train.tsv")) == 1 + 11
    assert rows("QNLI/dev.tsv")[:2] == ["sentence\tlabel", "s\t11"]
    assert len(rows("QNLI/dev.tsv")) == 1_001
    pairs = [row.split("\t")[7] for row in rows("STS-B/train.tsv")]
    assert pairs == ["one0", "one1", "one2", *(f"one{n}" for n in range(5, 9))]
    for recipe, numbers in (("worth", (3, 1)), ("small-models", (10, 2))):
        for name, number in zip(("train", "dev"), numbers, strict=True):
            path = folder / f"{recipe}/data/squad/{name}.json"
            assert json.loads(path.read_text())["data"] == [*range(number)]
    config = json.loads((folder / "worth/bert_config.json").read_text())
    assert config == {"hidden_dropout_prob": 0.1, "num_hidden_layers": 6}
    config = json.loads(
        (folder / "ablations/3_x_64/bert_config.json").read_text()
    )
    assert config["num_attention_heads"] == 1 and config["vocab_size"] == 1
    assert not [*folder.rglob("*.tsv.*"), *folder.rglob("*.json.*")]


def test_what_is_missing_is_named_before_any_work(tmp_path):
    for name in NAMES:
        if name != "common.sh":
            done = bash(name, check=False)
            assert done.returncode == 1
            assert done.stderr.startswith("error: usage: ")
    done = bash("glue.sh", tmp_path, tmp_path, tmp_path / "out", check=False)
    assert done.stderr == f"error: there is no {tmp_path}/vocab.txt\n"
    done = bash("released-model.sh", tmp_path, tmp_path / "out", check=False)
    assert "error: nothing to run: set GLUE, SQUAD" in done.stderr
    assert [*tmp_path.iterdir()] == []


def write_mrpc(folder):
    """Writes the first pairs of the samples."""
    folder.mkdir(parents=True)
    for name in ("train", "dev", "test"):
        rows = (SAMPLES / f"glue/{name}.tsv").read_text().splitlines()
        (folder / f"{name}.tsv").write_text("\n".join(rows[:61]) + "\n")


@pytest.fixture(scope="module")
def small_bert(tmp_path_factory):
    """A folder with a small BERT, and what its recipe said."""
    folder = tmp_path_factory.mktemp("small_bert")
    (folder / "data").mkdir()
    (folder / "data/MRPC").symlink_to(SAMPLES / "glue")
    arguments = SAMPLES / "corpus.txt", folder / "bert", folder / "data"
    done = bash("small-bert-from-scratch.sh", *arguments, SIZE="sample")
    return folder, arguments, done.stdout


@pytest.mark.slow
def test_small_bert_from_scratch(small_bert):
    folder, arguments, shown = small_bert
    assert "masked_lm_accuracy  next_sentence_accuracy\n" in shown
    assert "average of 1 task " in shown
    assert "| mrpc | 1 |" in (folder / "bert/glue/glue.md").read_text()
    second, third = (
        json.loads((folder / f"bert/pretraining_{n}/summary.json").read_text())
        for n in (2, 3)
    )
    # Phases of one length share their records, and each starts where the one
    # before it ended.
    assert second["flags"]["input_file"] == third["flags"]["input_file"]
    assert third["flags"]["init_checkpoint"].endswith("_2/model.ckpt-20")
    checkpoint = folder / "bert/pretraining_3/model.ckpt-10.index"
    made = checkpoint.stat().st_mtime_ns
    again = bash("small-bert-from-scratch.sh", *arguments, SIZE="sample")
    assert again.stderr.count("Nothing left to do") == 4
    assert again.stdout.splitlines()[-3:] == shown.splitlines()[-3:]
    assert checkpoint.stat().st_mtime_ns == made


@pytest.mark.slow
def test_recipes_that_start_from_a_small_bert(small_bert, tmp_path):
    folder, _, _ = small_bert
    bert, data = folder / "bert", tmp_path
    write_mrpc(data / "MRPC")
    start = f"mine={bert}/pretraining_3/model.ckpt-10"
    done = bash("worth.sh", bert, data, tmp_path / "a", start, SEEDS="1")
    table = (tmp_path / "a/worth.md").read_text()
    assert table.count("| random/MRPC/rate_") == 2
    assert table.count("| mine/MRPC/rate_") == 2
    assert " 1e-4" not in done.stderr
    done = bash(
        *("ablations.sh", bert, data, tmp_path / "b"),
        **{"SEEDS": "1", "STEPS": "10", "BATCH": "8"},
        ROWS="no_next_sentence left-to-right_with_a_BiLSTM",
    )
    table = (tmp_path / "b/ablations.md").read_text()
    for row in ("no_next_sentence", "left-to-right_with_a_BiLSTM"):
        assert f"| {row}/MRPC | 1 |" in table
    assert table.count("/pretraining | 1 |") == 2


@pytest.fixture
def model(tmp_path):
    """A folder laid out as a released model."""
    config = modeling.BertConfig.from_dict(
        TINY | {"max_position_embeddings": 128}
    )
    created = modeling.BertPretrainer(config, seed=1)
    created.build()
    folder = tmp_path / "released"
    tokenizer = FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    modeling.save_release(created, folder, tokenizer)
    return folder


@pytest.mark.slow
def test_domain_adaptation(tmp_path, model):
    lines = [
        "The trabeculectomy lowers the pressure in the eye.",
        "After trabeculectomy a phacoemulsification may follow.",
        "",
    ]
    (tmp_path / "text.txt").write_text("\n".join(lines * 30))
    bash(
        *("domain-adaptation.sh", model, tmp_path / "text.txt"),
        tmp_path / "out",
        **{"LENGTH": "32", "PRECISION": "bfloat16", "STEPS": "3"},
        **{"WARMUP": "1", "NEW_WORDS": "120", "BATCH": "8"},
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


@pytest.mark.slow
def test_small_models(tmp_path, model):
    write_mrpc(tmp_path / "MRPC")
    bash("small-models.sh", model, tmp_path, tmp_path / "out", SEEDS="1")
    table = (tmp_path / "out/small_models.md").read_text()
    for row in (
        *("fine-tuned", "student", "student_with_a_teacher"),
        "student_with_layers",
    ):
        assert f"| MRPC/{row} | 1 |" in table
    assert "| litert_f1 |" in table
    student = tmp_path / "out/MRPC/seed_1/student/model/bert_config.json"
    assert json.loads(student.read_text())["num_hidden_layers"] == 1


@pytest.mark.slow
def test_evaluation_of_a_released_model(tmp_path, model):
    write_mrpc(tmp_path / "glue/MRPC")
    (tmp_path / "squad").mkdir()
    for name in ("train", "dev"):
        content = json.loads((SAMPLES / f"squad/{name}.json").read_text())
        content["data"][0]["paragraphs"] = content["data"][0]["paragraphs"][:9]
        content["data"] = content["data"][:1]
        path = tmp_path / f"squad/{name}-v1.1.json"
        path.write_text(json.dumps(content))
    arguments = model, tmp_path / "out", "--max_seq_length=96"
    environment = {
        "GLUE": str(tmp_path / "glue"),
        "SQUAD": str(tmp_path / "squad"),
        **{"BATCHES": "8", "RATES": "1e-4 5e-5", "EPOCHS": "0.2"},
        "ENSEMBLE": "2",
    }
    bash("released-model.sh", *arguments, **environment)
    table = (tmp_path / "out/results.md").read_text()
    rows = [line.split(" | ")[0] for line in table.splitlines()[2:]]
    figures = {}
    for rate in ("1e-4", "5e-5"):
        folder = tmp_path / f"out/glue/mrpc/8-{rate}-0.2"
        lines = (folder / "eval_results.txt").read_text()
        figures[rate] = float(re.search(r"^f1 = (.*)$", lines, re.M)[1])
    best = max(figures, key=lambda rate: figures[rate])
    (submission,) = (tmp_path / "out").rglob("MRPC.tsv")
    assert submission.parent.name == f"best-8-{best}-0.2"
    assert "| squad/ensemble_of_2" in rows, rows
