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


def run_recipe(recipe, folder, *arguments, **environment):
    """Runs a recipe in a folder. It must succeed."""
    done = subprocess.run(
        ["bash", RECIPES / recipe, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHON": sys.executable} | environment,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# {recipe: its arguments}.
ARGUMENTS = {
    "glue": "bert . out --learning_rate=3e-5",
    "released-model": "bert out --weight_decay=0.02",
    "small-bert-from-scratch": "bert/vocab.txt out .",
}


@pytest.fixture(scope="module", params=ARGUMENTS)
def recipe(request):
    """The name of a recipe."""
    return request.param


@pytest.fixture(scope="module")
def data(recipe, tmp_path_factory):
    """A folder with what the recipe reads, as small as can be."""
    folder = tmp_path_factory.mktemp(recipe)
    names = "MRPC CoLA RTE QQP MNLI WNLI QNLI SST-2 STS-B conll2003 swag squad"
    for name in (*names.split(), "AX", "bert"):
        (folder / name).mkdir()
        for part in ("train", "diagnostic"):
            (folder / name / f"{part}.tsv").touch()
    for name in ("train-v1.1", "dev-v1.1", "train-v2.0"):
        (folder / f"squad/{name}.json").touch()
    (folder / "bert/vocab.txt").write_text("[PAD]\n")
    stand_in = folder / "python"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    return folder


def test_every_recipe_is_tested():
    recipes = {path.stem for path in RECIPES.glob("*.sh")}
    assert recipes == {*ARGUMENTS, "common"}


def read_calls(path):
    """Returns (script, names of its flags) of each command of a STAND_IN."""
    calls = []
    for line in path.read_text().splitlines():
        arguments = [part for part in line.split("\x1f") if part]
        script, *flags = [part for part in arguments if part != "-m"]
        names = {flag.removeprefix("--").partition("=")[0] for flag in flags}
        calls.append((Path(script).name, names))
    return [(script, names) for script, names in calls if script != "zipfile"]


@pytest.fixture(scope="module")
def calls(recipe, data):
    """What a recipe calls: (script, names of the flags) of each command."""
    run_recipe(
        f"{recipe}.sh",
        data,
        *ARGUMENTS[recipe].split(),
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
    return read_calls(data / "calls")


def test_scripts_know_the_flags_of_a_recipe(calls):
    flags_of_script = flags_index.read_flags()
    assert calls
    for script, names in calls:
        assert names <= flags_of_script[script].keys()


def test_each_line_of_a_recipe_has_run(calls, recipe):
    text = (RECIPES / f"{recipe}.sh").read_text()
    code = re.sub(r"^#.*", "", text, flags=re.M)
    names_in_code = {*re.findall(r"(?<![\w-])--(\w+)", code)}
    assert names_in_code <= set().union(*(names for _, names in calls))


@pytest.mark.slow
def test_a_bert_from_scratch_is_evaluated_on_glue(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/MRPC").symlink_to(SAMPLES / "glue")
    run_recipe(
        "small-bert-from-scratch.sh",
        tmp_path,
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
