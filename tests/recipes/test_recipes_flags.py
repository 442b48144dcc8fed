"""Every flag that a recipe gives is one of its script's."""

import importlib
import sys
from pathlib import Path

import pytest

from tests import script_runner
from tests.golden import ROOT
from tests.recipes.conftest import write_small_bert
from training.command_line import child

DATA = {
    **{
        f"{task}/{name}.tsv": "a\tb\n" * 3
        for task in ("SST-2", "MRPC", "CoLA", "RTE", "STS-B", "QNLI")
        for name in ("train", "dev")
    },
    "QNLI/dev.tsv": "a\tb\n" * 1002,
    "corpus.txt": "A sentence.\n",
    **{f"squad/{name}-v1.1.json": '{"data": []}' for name in ("train", "dev")},
    **{f"conll2003/{name}.txt": "a O\n" for name in ("train", "valid")},
}
FIGURES = "".join(
    f"{name} = 0.5\n"
    for name in (
        *("eval_accuracy", "matthews", "pearson", "spearman", "f1"),
        *("masked_lm_loss", "masked_lm_accuracy", "next_sentence_accuracy"),
    )
)


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Replaces the scripts; returns (script, flags) of those that ran."""
    monkeypatch.chdir(tmp_path)
    given = []

    def write(path, text):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)

    def run_script(command, **_):
        _, script, *arguments = command
        flags = dict(each[2:].partition("=")[::2] for each in arguments)
        given.append((Path(script).name, flags))
        if "output_dir" not in flags:
            write(flags.get("output_file") or flags["html"], "[PAD]\n")
            return 0
        write(f"{flags['output_dir']}/eval_results.txt", FIGURES)
        write(f"{flags['output_dir']}/glue.md", "| task |\n")
        if model := flags.get("export_weights"):
            write(f"{model}/bert_model.ckpt.index", "")
            write(f"{model}/bert_config.json", '{"num_hidden_layers": 4}')
        return 0

    for name, text in DATA.items():
        write(f"data/{name}", text)
    (tmp_path / "bert").mkdir()
    write_small_bert(tmp_path / "bert")
    write("bert/model.ckpt-1.index", "")
    monkeypatch.setattr(child, "run", run_script)
    return given


@pytest.mark.parametrize(
    ("recipe", "flags", "number"),
    [
        (
            "small-bert-from-scratch",
            ["--corpus=data/corpus.txt", "--glue_dir=data", "--tasks=mrpc"],
            # The vocabulary, records of two lengths, two phases, the curves
            # and GLUE.
            1 + 2 + 2 + 1 + 1,
        ),
        (
            "small-bert-from-scratch",
            ["--corpus=data/corpus.txt", "--size=long"],
            # The same with four phases and without GLUE.
            1 + 2 + 4 + 1,
        ),
        (
            "worth",
            ["--start=mine=bert/model.ckpt-1"],
            # Eight tasks, two starts; a seed of two rates and two of the best.
            8 * 2 * (2 + 2),
        ),
        (
            "ablations",
            [],
            # Each of 14 rows calls its pretraining; three seeds of three tasks
            # in table 5, of one in table 7, of two in the others.
            14 + 3 * (4 * 3 + 2 * 1 + 8 * 2),
        ),
        (
            "small-models",
            [],
            # Three seeds of five tasks in three rows, three of three students.
            3 * (5 * 3 + 3 * 3),
        ),
    ],
)
def test_scripts_know_the_flags_that_recipes_give_them(
    scripts, monkeypatch, recipe, flags, number
):
    monkeypatch.syspath_prepend(ROOT / "recipes")
    if recipe != "small-bert-from-scratch":
        flags = ["--model_dir=bert", "--data_dir=data", *flags]
    monkeypatch.setattr(sys, "argv", [recipe, "--output_dir=out", *flags])
    importlib.import_module(recipe).main()
    assert len(scripts) == number
    known = script_runner.documented_flags()
    for script, given in scripts:
        assert given.keys() <= known[script], script
