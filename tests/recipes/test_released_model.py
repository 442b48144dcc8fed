"""Commands of the paper's evaluation: what runs, what is kept and refused.

The scripts themselves are replaced; test_recipes.py runs them.
"""

import importlib
import shutil
from pathlib import Path

import pytest

from tests.golden import ROOT
from training.command_line import child

MODEL = ("bert_config.json", "vocab.txt", "bert_model.ckpt.index")
FILES = {
    "model": MODEL,
    "other": MODEL,
    "glue/MRPC": ("train.tsv", "dev.tsv", "test.tsv"),
    "squad": ("train-v1.1.json", "dev-v1.1.json"),
    "trivia": ("qa/wikipedia-train.json", "evidence/wikipedia/Light.txt"),
    "swag": ("train.csv", "val.csv"),
    "ner": ("eng.train", "eng.testa"),
}
PARTS = {
    "glue": ("--glue=glue", "--batches=8", "--rates=1e-4,5e-5", "--epochs=3"),
    "squad": ("--squad=squad", "--ensemble=2"),
    "triviaqa": ("--squad=squad", "--ensemble=2", "--triviaqa=trivia"),
    "swag": ("--swag=swag",),
    "ner": ("--ner=ner", "--cased_model=other"),
}


def write_files(folder):
    """Writes empty files for every part."""
    for name, files in FILES.items():
        for file in files:
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


class Scripts:
    """Stands for the scripts: writes what they would.

    Attributes:
        calls: (script, flags) of those that ran.
        f1: by learning rate.
        kills: whether prediction ends before it writes anything.
    """

    def __init__(self):
        self.calls = []
        self.f1 = {"1e-4": 0.7, "5e-5": 0.8, "2e-5": 0.9}
        self.kills = False

    def __call__(self, command, **_):
        _, script, *arguments = command
        flags = {}
        for each in arguments:
            name, _, value = each[2:].partition("=")
            flags[name] = value or "True"
        self.calls.append((Path(script).name, flags))
        if "output_file" in flags:
            Path(flags["output_file"]).write_text("{}")
            return 0
        folder = Path(flags["output_dir"])
        folder.mkdir(parents=True, exist_ok=True)
        if "do_eval" in flags or "glue_submission" not in flags:
            f1 = self.f1.get(flags.get("learning_rate"), 0.5)
            figures = {"f1": f1, "exact_match": 60.0, "eval_accuracy": 0.6}
            figures |= dict.fromkeys(("accuracy", "accuracy_mm"), 0.7)
            figures |= dict.fromkeys(("matthews", "spearman"), 0.8)
            lines = [f"{name} = {value}" for name, value in figures.items()]
            (folder / "eval_results.txt").write_text("\n".join(lines) + "\n")
        if "glue_submission" in flags:
            if self.kills:
                raise SystemExit(75)
            (folder / "MRPC.tsv").write_text(flags["init_checkpoint"])
        return 0


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "recipes")
    return importlib.import_module("released-model")


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Replaces the scripts, in a folder with files for every part."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    replaced = Scripts()
    monkeypatch.setattr(child, "run", replaced)
    return replaced


def evaluate(recipe, *parts, model="model", more=()):
    flags = [flag for part in parts for flag in PARTS[part]]
    recipe.main([f"--model={model}", "--output=out", *flags, *more])


def test_a_finished_evaluation_runs_nothing_again(recipe, scripts, capsys):
    evaluate(recipe, *PARTS)
    table, number = Path("out/results.md").read_text(), len(scripts.calls)
    # GLUE's two settings and the best; TriviaQA's file, its model, two models
    # and their ensemble; SWAG; named entities.
    assert number == 3 + 5 + 2
    assert capsys.readouterr().out.endswith(table)
    evaluate(recipe, *PARTS)
    assert len(scripts.calls) == number
    assert capsys.readouterr().out == table
    assert "| MRPC, f1 | 8 x 5e-5, 3 epochs |" in table


@pytest.mark.parametrize(
    ("parts", "change", "made", "differing"),
    [
        (["squad"], {"model": "other"}, "squad/seed_1", "=other/vocab.txt"),
        (["swag"], {"model": "other"}, "swag", "=model/vocab.txt"),
        (
            ["glue"],
            {"more": ["--", "--max_seq_length=96"]},
            "glue/mrpc/8-1e-4-3",
            "--max_seq_length=128 --max_seq_length=96",
        ),
        (["swag"], {"more": ["--", "--use_xla"]}, "swag", "--use_xla"),
    ],
)
def test_results_of_another_command_are_refused(
    recipe, scripts, parts, change, made, differing
):
    evaluate(recipe, *parts)
    del scripts.calls[:]
    with pytest.raises(SystemExit) as stopped:
        evaluate(recipe, *parts, **change)
    message = str(stopped.value)
    assert message.startswith(f"error: out/{made} was made by another command")
    assert differing in message and "\n" not in message
    assert message.endswith("; give another --output")
    assert not scripts.calls


def test_plain_squad_does_not_pass_for_one_after_triviaqa(recipe, scripts):
    evaluate(recipe, "squad")
    table = Path("out/results.md").read_text()
    del scripts.calls[:]
    # Refused before the first command, not after days of training.
    with pytest.raises(SystemExit, match="error: out/squad/seed_1 was made by"):
        evaluate(recipe, "glue", "triviaqa")
    assert not scripts.calls
    assert Path("out/results.md").read_text() == table


def test_a_folder_without_its_command_is_refused(recipe, scripts):
    folder = Path("out/swag")
    folder.mkdir(parents=True)
    (folder / "eval_results.txt").write_text("eval_accuracy = 0.99\n")
    with pytest.raises(SystemExit, match=r"there is no out/swag\.command\.txt"):
        evaluate(recipe, "swag")
    assert not scripts.calls


def test_a_stopped_training_is_not_continued_by_another(recipe, scripts):
    scripts.f1 = None
    with pytest.raises(AttributeError):
        evaluate(recipe, "ner")
    assert not Path("out/ner/eval_results.txt").exists()
    scripts.f1 = {}
    with pytest.raises(SystemExit, match="out/ner was made by another command"):
        evaluate(recipe, "ner", more=["--", "--learning_rate=1e-5"])
    evaluate(recipe, "ner")
    assert Path("out/ner/eval_results.txt").exists()


def test_a_folder_that_was_removed_is_made_anew(recipe, scripts):
    evaluate(recipe, "swag")
    Path("out/swag").rename("elsewhere")
    evaluate(recipe, "swag", model="other")
    evaluate(recipe, "swag", model="other")
    assert len(scripts.calls) == 2


@pytest.mark.parametrize(
    ("part", "removed", "made"),
    [
        ("glue", "glue/mrpc/8-5e-5-3", "glue/mrpc/best-8-5e-5-3"),
        ("squad", "squad/seed_2", "squad/ensemble_of_2"),
        ("triviaqa", "triviaqa.json", "triviaqa"),
        ("triviaqa", "triviaqa", "squad/seed_1"),
    ],
)
def test_what_was_made_from_something_removed_is_refused(
    recipe, scripts, part, removed, made
):
    evaluate(recipe, "swag", part)
    del scripts.calls[:]
    Path("out", removed).rename("elsewhere")
    with pytest.raises(SystemExit) as stopped:
        evaluate(recipe, "swag", part)
    assert str(stopped.value) == (
        f"error: out/{made} was made from out/{removed}, which is not whole "
        f"any more; remove out/{made} to make it again"
    )
    assert not scripts.calls
    for path in (made, "triviaqa", "squad"):
        shutil.rmtree(Path("out", path), ignore_errors=True)
    evaluate(recipe, "swag", part)
    assert Path("out", made).exists()


def test_a_wider_grid_predicts_its_own_best(recipe, scripts):
    evaluate(recipe, "glue")
    first = {path: path.read_text() for path in Path("out").rglob("MRPC.tsv")}
    assert list(first.values()) == ["out/glue/mrpc/8-5e-5-3"]
    evaluate(recipe, "glue", more=["--rates=1e-4,5e-5,2e-5"])
    found = {path: path.read_text() for path in Path("out").rglob("MRPC.tsv")}
    assert found[Path("out/glue/mrpc/best-8-2e-5-3/MRPC.tsv")] == (
        "out/glue/mrpc/8-2e-5-3"
    )
    assert found.items() > first.items()


def test_a_prediction_that_was_killed_is_made_again(recipe, scripts):
    scripts.kills = True
    with pytest.raises(SystemExit):
        evaluate(recipe, "glue")
    scripts.kills = False
    evaluate(recipe, "glue")
    (file,) = Path("out").rglob("MRPC.tsv")
    assert file.read_text() == "out/glue/mrpc/8-5e-5-3"
    predictions = [f for _, f in scripts.calls if "glue_submission" in f]
    assert len(predictions) == 2
    assert not any("do_eval" in flags for flags in predictions)


def test_the_last_of_mnlis_two_submissions_counts(recipe, scripts):
    Path("glue/MRPC").rename("glue/MNLI")
    for name in ("dev", "test"):
        for kind in ("matched", "mismatched"):
            Path(f"glue/MNLI/{name}_{kind}.tsv").touch()
    evaluate(recipe, "glue")
    (best,) = Path("out/glue/mnli").glob("best*/")
    (best / "MNLI-m.tsv").touch()
    evaluate(recipe, "glue")
    assert len(scripts.calls) == 4
    (best / "MNLI-mm.tsv").touch()
    evaluate(recipe, "glue")
    assert len(scripts.calls) == 4


def test_all_of_glue_has_an_average(recipe, scripts):
    for task, folder in recipe.GLUE_FOLDERS.items():
        for processor in recipe.glue.create_processors(task).values():
            for _, file in processor.set_files.values():
                path = Path("glue", folder, file)
                path.parent.mkdir(exist_ok=True)
                path.touch()
    evaluate(recipe, "glue")
    table = Path("out/results.md").read_text().splitlines()[2:]
    assert [line.split(" |")[0] for line in table[:2]] == [
        "| MNLI, eval_accuracy",
        "| MNLI, accuracy_mm",
    ]
    figures = [float(line.split("|")[3]) for line in table]
    assert len(figures) == 10
    assert figures[-1] == pytest.approx(sum(figures[:-1]) / 9, abs=0.05)
    assert table[-1].endswith("| 79.6 (test) | 82.1 (test) |")


def test_trainings_keep_one_checkpoint(recipe, scripts):
    evaluate(recipe, *PARTS)
    kept = {
        flags["output_dir"]: flags.get("keep_checkpoint_max")
        for _, flags in scripts.calls
        if "do_train" in flags
    }
    assert len(kept) == 7 and {*kept.values()} == {"1"}


def test_flags_after_the_dashes_reach_each_command_that_runs_a_model(
    recipe, scripts
):
    evaluate(recipe, *PARTS, more=["--", "--use_xla", "--eval_batch_size=4"])
    for script, flags in scripts.calls:
        runs_a_model = script != "create_squad_from_triviaqa.py"
        given = flags.get("use_xla"), flags.get("eval_batch_size")
        assert given == (("True", "4") if runs_a_model else (None, None))


def test_a_failure_shows_the_end_of_the_log(
    recipe, scripts, monkeypatch, capsys
):
    def fail(command, stdout, **_):
        stdout.write(b"error: no memory\n")
        return 1

    monkeypatch.setattr(child, "run", fail)
    with pytest.raises(SystemExit) as stopped:
        evaluate(recipe, "swag")
    assert stopped.value.code == 1
    assert Path("out/swag.log").read_text() == "error: no memory\n"
    assert capsys.readouterr().err.splitlines() == [
        "error: no memory",
        "error: run_swag.py failed; above is the end of out/swag.log",
    ]


@pytest.mark.parametrize("more", [["--rates=x"], ["--", "--data_dir=x"]])
def test_nothing_is_made_by_a_wrong_command(recipe, scripts, more):
    with pytest.raises(SystemExit):
        evaluate(recipe, "glue", more=more)
    assert not scripts.calls and not Path("out").exists()


def test_print_needs_no_files(recipe, scripts, monkeypatch, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    evaluate(recipe, *PARTS, more=["--print"])
    lines = capsys.readouterr().out.splitlines()
    # All eight tasks of GLUE, and SQuAD v2.0 too.
    assert len(lines) == 8 * 3 + 5 + 1 + 2
    assert all(line.startswith("python ") for line in lines)
    # The first setting stands for the best.
    (line,) = [line for line in lines if "output_dir=out/glue/rte/best" in line]
    assert "--init_checkpoint=out/glue/rte/8-1e-4-3 " in line
    assert not scripts.calls and not any(Path(".").iterdir())
