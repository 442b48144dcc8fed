"""The flags of the paper's evaluation; they are read before anything runs."""

import importlib
import re
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.recipes.test_released_model import PARTS, write_files


@pytest.fixture
def parse(tmp_path, monkeypatch):
    """Reads flags in a folder with files for every part."""
    monkeypatch.syspath_prepend(ROOT / "recipes")
    flags = importlib.import_module("released_model_flags")
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: flags.parse(
        ["--model=model", "--output=out", *arguments], "The recipe."
    )


@pytest.mark.parametrize(
    ("removed", "part", "message"),
    [
        ("model/bert_model.ckpt.index", "swag", "--model: there is no"),
        ("model/vocab.txt", "swag", "--model: there is no"),
        ("other/bert_config.json", "ner", "--cased_model: there is no"),
        ("glue/MRPC/test.tsv", "glue", "--glue: there is no"),
        ("squad/dev-v1.1.json", "squad", "--squad: there is no"),
        (
            "trivia/qa/wikipedia-train.json",
            "triviaqa",
            "--triviaqa: there is no",
        ),
        ("trivia/evidence/wikipedia", "triviaqa", "--triviaqa: there is no"),
        ("swag/val.csv", "swag", "--swag: there is no"),
        ("swag", "swag", "--swag: there is no"),
        ("ner/eng.train", "ner", "--ner: there is no"),
        ("glue/MRPC", "glue", "--glue=glue has none of GLUE's folders; give"),
        ("glue", "glue", "--glue=glue has none of GLUE's folders; give"),
    ],
)
def test_missing_files_are_named(parse, capsys, removed, part, message):
    Path(removed).rename("elsewhere")
    with pytest.raises(SystemExit) as stopped:
        parse(*PARTS["swag"], *PARTS[part])
    assert stopped.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert message in line and ("must hold" in line or "give one" in line)
    assert Path(removed).parts[0] in line


def test_a_train_set_of_squad_2_needs_its_dev_set(parse, capsys):
    Path("squad/train-v2.0.json").touch()
    with pytest.raises(SystemExit):
        parse(*PARTS["squad"])
    error = capsys.readouterr().err
    assert "--squad: there is no squad/dev-v2.0.json" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to run: give --glue, --squad, --swag or --ner"),
        (["--glue="], "--glue: is empty"),
        (["--swag=swag", "--output=model/vocab.txt"], "vocab.txt is a file"),
        (["--glue=glue", "--rates=5e-5,"], "'' in 5e-5, is not a number"),
        (["--glue=glue", "--batches=16,8.5"], "'8.5' in 16,8.5 is not a whole"),
        (["--glue=glue", "--epochs=3,-1"], "'-1' in 3,-1 is not a number abo"),
        (["--swag=swag", "--", "x"], "x after --: give each flag as --NAME"),
        (["--glue=glue", "--rates=1e-5,1e-5"], "1e-5,1e-5 gives one value tw"),
        (["--squad=squad", "--", "--seed=1"], "--seed after --: the models"),
        (["--swag=swag", "--", "--data_dir=x"], "--data_dir after --: the rec"),
        (
            ["--glue=glue", "--", "--num_train_epochs=1"],
            "--num_train_epochs after --: GLUE's grid varies it; give --epochs",
        ),
        (["--ner=ner"], "--ner needs --cased_model"),
        (["--triviaqa=trivia"], "--triviaqa needs --squad"),
        (["--squad=squad", "--ensemble=1"], "--ensemble is 2 or more"),
    ],
)
def test_wrong_arguments_are_refused(parse, capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        parse(*arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_each_flag_has_help(parse, capsys):
    with pytest.raises(SystemExit):
        parse("--help")
    shown = capsys.readouterr().out
    flags = re.findall(r"^  (--\w+)(.*(?:\n {10,}.*)?)", shown, re.M)
    assert len(flags) == 13
    for flag, text in flags:
        assert re.search(r"[a-z]{3}", text.replace(flag, "")), (flag, text)
