"""The examples of docs/adding_a_task.md add a task and a head."""

import inspect
import json
import re
import shutil
import textwrap
import types

import pytest
import tensorflow as tf

from options.parsed_command import ParsedCommand
from tests.support import fresh_process, output_files, script_runner
from tests.support.output_files import read_results
from tests.support.paths import ROOT, SAMPLES
from tests.support.source_files import PACKAGES
from tests.support.tasks.task_runs import fine_tuning_flags, run_task_test
from training.task import FineTuningTask

PAGE = (ROOT / "docs/adding_a_task.md").read_text(encoding="utf-8")
# A step of the example of a head: the name of a file, and its lines.
STEP = re.compile(r"^\d+\. `([\w/.]+)`.*?^ *```diff\n(.*?)^ *```$", re.M | re.S)


def write_questions(path, count, with_answers=True):
    """Writes a set of the page's task, whose answers alternate."""
    rows = [
        {
            "question": "is the river blue",
            "passage": f"the river is {('red', 'blue')[number % 2]}",
            "answer": bool(number % 2),
        }
        for number in range(count)
    ]
    if not with_answers:
        for row in rows:
            del row["answer"]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(scope="module")
def source():
    """The file that the page shows."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    return code


@pytest.fixture(scope="module")
def folder(source, tiny, tmp_path_factory):
    """The folder of the file, its sets and its run."""
    folder = tmp_path_factory.mktemp("boolq")
    script = folder / "run_boolq.py"
    script.write_text(source, encoding="utf-8")
    write_questions(folder / "train.jsonl", 16)
    write_questions(folder / "val.jsonl", 6)
    write_questions(folder / "test.jsonl", 3, with_answers=False)
    flags = fine_tuning_flags(
        folder,
        tiny,
        export_dir=folder / "served",
        num_train_epochs=2,
        evaluate_each_epoch=True,
    )
    run_task_test(script, flags, "eval_accuracy")
    return folder


def test_the_file_defines_a_task_that_encodes_its_set(source, tiny, tmp_path):
    """The slow tests below also train it."""
    page = types.ModuleType("run_boolq")
    exec(compile(source, "run_boolq.py", "exec"), vars(page))
    write_questions(tmp_path / "train.jsonl", 2)
    flags = {
        "data_dir": str(tmp_path),
        "output_dir": str(tmp_path / "run"),
        "bert_config_file": str(tiny / "bert_config.json"),
        "vocab_file": str(SAMPLES / "vocab.txt"),
        "max_seq_length": 24,
        "do_train": True,
    }
    parsed = ParsedCommand(page.Config.from_values(**flags), flags)
    task = page.BoolqTask(page.load_starting_point(parsed))
    records = [*task.encode("train", task.take_examples("train"))]
    assert len(records) == 2
    model = task.create_model(task.starting_point.bert_config)
    assert model.num_labels == 2


def test_the_page_names_all_methods_of_a_task():
    methods = {
        name
        for name, value in vars(FineTuningTask).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }
    section = PAGE.split("\n### What to replace\n")[1].split("\n### ")[0]
    assert methods <= {*re.findall(r"`(\w+)`", section)}
    # The page says that four need no definition.
    assert len(methods - FineTuningTask.__abstractmethods__) == 4


@pytest.mark.slow
def test_the_error_of_an_answer_names_its_line(source, tiny, tmp_path):
    script = tmp_path / "run_boolq.py"
    script.write_text(source, encoding="utf-8")
    write_questions(tmp_path / "train.jsonl", 2)
    with open(tmp_path / "train.jsonl", "a") as file:
        row = {"question": "is it", "passage": "it is", "answer": "yes"}
        file.write(json.dumps(row))
    flags = fine_tuning_flags(tmp_path, tiny)
    error = script_runner.run(script, tmp_path, **flags).error
    assert "train.jsonl, line 3: the answer must be true or false" in error
    assert "'yes'" in error


@pytest.mark.slow
def test_the_results_are_those_that_the_file_names(folder):
    results = read_results(folder / "run")
    assert [*results] == ["eval_accuracy", "eval_loss", "f1", "global_step"]


@pytest.mark.slow
def test_the_predictions_are_those_that_the_file_writes(folder):
    entries = output_files.read_json_lines(folder / "run/predictions.jsonl")
    assert len(entries) == 3
    for entry in entries:
        assert entry["question"] == "is the river blue"
        assert entry["label"] in ("no", "yes")
        assert list(entry["probabilities"]) == ["no", "yes"]
    assert (folder / "run/labels.txt").read_text() == "no\nyes\n"


@pytest.mark.slow
def test_the_export_answers_as_the_run_predicts(folder):
    entries = output_files.read_json_lines(folder / "run/predictions.jsonl")
    served = tf.saved_model.load(str(folder / "served"))
    colors = ("red", "blue", "red")
    outputs = served.signatures["classify"](
        text_a=tf.constant(["is the river blue"] * len(colors)),
        text_b=tf.constant([f"the river is {color}" for color in colors]),
    )
    for row, entry in zip(outputs["probabilities"], entries, strict=True):
        expected = list(entry["probabilities"].values())
        assert list(row.numpy()) == pytest.approx(expected, abs=1e-5)


def edits_of_head():
    """Yields (file, lines before, lines after) of the example of a head."""
    section = PAGE.split("\n### An example: a head of two layers\n")[1]
    for file, diff in STEP.findall(section.split("\n## ")[0]):
        for edit in textwrap.dedent(diff).split("@@\n"):
            lines = edit.splitlines(keepends=True)
            # A blank line of a page has no space at its start.
            before = [line[1:] or "\n" for line in lines if line[0] != "+"]
            after = [line[1:] or "\n" for line in lines if line[0] != "-"]
            yield file, "".join(before), "".join(after)


def test_each_step_of_the_head_finds_its_lines():
    edits = [*edits_of_head()]
    assert len({file for file, _, _ in edits}) == 8
    for file, before, _ in edits:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{file}:\n{before}"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository, to which the example adds a head."""
    copy = tmp_path_factory.mktemp("checkout")
    for folder in (*PACKAGES, "docs"):
        shutil.copytree(ROOT / folder, copy / folder)
    for name in ("VERSION", "predict.py", "run_classifier.py"):
        shutil.copy(ROOT / name, copy)
    for file, before, after in edits_of_head():
        text = (copy / file).read_text(encoding="utf-8")
        (copy / file).write_text(text.replace(before, after), encoding="utf-8")
    return copy


@pytest.fixture
def run_script(checkout):
    """Runs Python in the copy, with arguments."""

    def run_script(*arguments):
        return fresh_process.run(
            *arguments, cwd=checkout, PYTHONPATH=str(checkout)
        ).check()

    return run_script


@pytest.fixture
def head_flags(tiny):
    """Arguments of run_classifier.py that train the head."""
    return [
        f"--data_file={SAMPLES}/topics/train.csv",
        f"--bert_config_file={tiny}/bert_config.json",
        f"--vocab_file={SAMPLES}/vocab.txt",
        "--max_seq_length=16",
        "--num_train_epochs=1",
        "--deep_head",
        "--output_dir=run",
        "--export_dir=served",
    ]


# Creates the model of the task, in the place of training it.
CREATE_MODEL = """
import run_classifier
from training.fine_tuning import flow

def create_model(task):
    model = task.create_model(task.starting_point.bert_config)
    model.build()
    print(*[variable.path for variable in model.variables])

flow.fine_tune = create_model
run_classifier.command()
"""


def test_the_flag_creates_a_model_with_the_head(run_script, head_flags):
    """The slow test below also trains it."""
    variables = run_script("-c", CREATE_MODEL, *head_flags).stdout
    assert "hidden/kernel" in variables


@pytest.mark.slow
def test_the_head_trains_and_its_export_answers(
    checkout, run_script, head_flags
):
    run_script("run_classifier.py", *head_flags)
    # The layer that the example adds to the head.
    variables = dict(tf.train.list_variables(str(checkout / "run")))
    assert [name for name in variables if "hidden" in name]
    answered = run_script("predict.py", "--model=served", "A text.")
    answer = json.loads(answered.stdout)
    assert answer["label"] in answer["probabilities"]
    # The card reads what the model is for in the entry of its class.
    card = (checkout / "run/README.md").read_text(encoding="utf-8")
    assert "\n# A classifier of texts into 6 labels" in card
