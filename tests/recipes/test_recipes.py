"""The recipes' commands, recorded by a stand-in for Python, and one run."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from docs import flags_index
from tests.support.paths import ROOT, SAMPLES

RECIPES = ROOT / "examples/recipes"
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
      for name in eval_accuracy matthews pearson spearman f1; do
        echo "$name = 0.9"
      done > "$path/eval_results.txt"
      ;;
    --output_file=*)
      mkdir -p "$(dirname "$path")"
      echo "[PAD]" | tee "$path" > "$(dirname "$path")/eval-$(basename "$path")"
      ;;
  esac
done
"""


def run_recipe(recipe, *arguments, **environment):
    """Runs a recipe, which must succeed."""
    done = subprocess.run(
        ["bash", RECIPES / recipe, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHON": sys.executable} | environment,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def data(tmp_path):
    """A folder with what the recipes read, as small as can be."""
    names = "MRPC CoLA RTE QQP MNLI WNLI QNLI SST-2 STS-B conll2003 swag squad"
    for name in (*names.split(), "AX", "bert"):
        (tmp_path / name).mkdir()
        for part in ("train", "diagnostic"):
            (tmp_path / name / f"{part}.tsv").touch()
    for name in ("train-v1.1", "dev-v1.1", "train-v2.0"):
        (tmp_path / f"squad/{name}.json").touch()
    (tmp_path / "bert/vocab.txt").write_text("[PAD]\n")
    stand_in = tmp_path / "python"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    return tmp_path


# {recipe: its arguments}.
ARGUMENTS = {
    "glue": "bert . out --learning_rate=3e-5",
    "released-model": "bert out --weight_decay=0.02",
    "small-bert-from-scratch": "bert/vocab.txt out .",
}


def test_every_recipe_is_tested():
    recipes = {path.stem for path in RECIPES.glob("*.sh")}
    assert recipes == {*ARGUMENTS, "common"}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_scripts_know_the_flags_of_a_recipe(name, data, monkeypatch):
    monkeypatch.chdir(data)
    run_recipe(
        f"{name}.sh",
        *ARGUMENTS[name].split(),
        PYTHON="./python",
        CALLS="calls",
        SUBMISSION="1",
        NER="conll2003",
        CASED_MODEL="bert",
        SEEDS="1 2",
        GLUE=".",
        SQUAD="squad",
        SWAG="swag",
    )
    flags_of_scripts = flags_index.read_flags()
    given = set()
    for line in (data / "calls").read_text().splitlines():
        parts = [part for part in line.split("\x1f") if part not in ("-m", "")]
        script, *rest = parts
        if script == "zipfile":
            continue
        flags = {part[2:].partition("=")[0] for part in rest}
        assert flags <= flags_of_scripts[Path(script).name].keys(), line
        given |= flags
    # Each line of the recipe has run.
    text = (RECIPES / f"{name}.sh").read_text()
    text = re.sub(r"^#.*", "", text, flags=re.M)
    assert {*re.findall(r"(?<![\w-])--(\w+)", text)} <= given


@pytest.mark.slow
def test_a_bert_from_scratch_is_evaluated_on_glue(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/MRPC").symlink_to(SAMPLES / "glue")
    run_recipe(
        "small-bert-from-scratch.sh",
        SAMPLES / "corpus.txt",
        tmp_path / "bert",
        tmp_path / "data",
        SIZE="sample",
        SUBMISSION="1",
        SEEDS="1",
    )
    glue = tmp_path / "bert/glue"
    table = (glue / "glue.md").read_text()
    assert re.search(r"^\| mrpc +\| 1 +\|", table, re.M)
    with zipfile.ZipFile(glue / "submission.zip") as archive:
        assert archive.namelist() == ["MRPC.tsv"]
