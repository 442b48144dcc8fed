"""run_classifier.py with a user's class, written for Google's script."""

import json
import shutil

import pytest

import serving
from tests.support import output_files, script_runner
from tests.support.output_files import read_results
from tests.support.paths import ROOT, SAMPLES
from tests.support.script_runner import FinishedRun, split_flags
from tests.support.source_files import blocks
from tests.support.tables.csv_files import read_csv

# As users of Google's code added it to run_classifier.py, whose names it uses.
TICKETS = """
class TicketsProcessor(DataProcessor):
  def get_train_examples(self, data_dir):
    return self._create_examples(
        self._read_tsv(os.path.join(data_dir, "first.tsv")), "train")

  def get_dev_examples(self, data_dir):
    return self._create_examples(
        self._read_tsv(os.path.join(data_dir, "second.tsv")), "dev")

  def get_test_examples(self, data_dir):
    return self._create_examples(
        self._read_tsv(os.path.join(data_dir, "second.tsv")), "test")

  def get_labels(self):
    return ["0", "1"]

  def _create_examples(self, lines, set_type):
    examples = []
    for (i, line) in enumerate(lines):
      if i == 0:
        continue
      guid = "%s-%s" % (set_type, i)
      text_a = tokenization.convert_to_unicode(line[3])
      text_b = tokenization.convert_to_unicode(line[4])
      label = tokenization.convert_to_unicode(line[0])
      examples.append(
          InputExample(guid=guid, text_a=text_a, text_b=text_b, label=label))
    return examples
"""
# As a user's own module derives it from Google's.
SINGLE = """
import csv
import helper_of_single
import tensorflow as tf
import run_classifier
from run_classifier import InputExample

class Single(run_classifier.DataProcessor):
    def read(self, path):
        with tf.io.gfile.GFile(path) as file:
            next(file)
            for i, line in enumerate(csv.reader(file, delimiter="\\t")):
                text_b = b"caf\\xc3\\xa9" if i % 2 else helper_of_single.NOTHING
                yield InputExample(i, line[3].encode(), text_b, 1)

    def get_train_examples(self, data_dir):
        return self.read(data_dir + "/train.tsv")

    get_dev_examples = get_train_examples

    def get_labels(self):
        return [0, 1]
"""


@pytest.fixture(scope="module")
def flags(tmp_path_factory, model_flags):
    """Flags for the class TicketsProcessor, in a folder of its own."""
    folder = tmp_path_factory.mktemp("tickets")
    for name, source in (("first", "train"), ("second", "dev")):
        file = SAMPLES / f"glue/{source}.tsv"
        lines = file.read_text("utf-8").splitlines(keepends=True)
        (folder / f"{name}.tsv").write_text("".join(lines[:61]), "utf-8")
    (folder / "code").mkdir()
    (folder / "code/tickets.py").write_text(TICKETS)
    return {
        **model_flags,
        "processor": folder / "code/tickets.py:TicketsProcessor",
        "data_dir": folder,
        "max_seq_length": 32,
    }


@pytest.fixture(scope="module")
def trained_run(flags, tmp_path_factory):
    """FinishedRun that reads its sets with the class.

    A test that changes the folder works on `copied`.
    """
    folder = tmp_path_factory.mktemp("trained")
    given = flags | split_flags("""
        --do_train --do_eval --do_predict --report --num_train_epochs=1
        --class_weights=balanced --train_batch_size=8
        --output_dir=run --export_dir=export
    """)
    done = script_runner.run("run_classifier.py", folder, **given).check()
    return FinishedRun(folder, given, done)


@pytest.fixture
def copied(trained_run, tmp_path):
    """A copy of the folder of `trained_run` for one test."""
    return shutil.copytree(trained_run.folder, tmp_path / "copied")


def test_a_class_for_googles_script_runs_unchanged(trained_run):
    run = trained_run.folder / "run"
    assert read_results(run)["global_step"] == 7
    assert (run / "report.html").is_file()


def test_predictions_of_the_dev_set_name_the_examples_of_the_class(trained_run):
    rows = read_csv(trained_run.folder / "run/dev_predictions.csv")
    names = "guid text_a text_b label predicted_label probability correct"
    assert [*rows[0]] == names.split()
    assert [row["guid"] for row in rows] == [f"dev-{i}" for i in range(1, 61)]


def test_predictions_of_the_test_set_contain_no_labels_of_the_class(
    trained_run,
):
    entries = output_files.read_json_lines(
        trained_run.folder / "run/predictions.jsonl"
    )
    guids = [entry["guid"] for entry in entries]
    assert guids == [f"test-{i}" for i in range(1, 61)]
    assert not any("gold_label" in entry for entry in entries)


def test_the_export_answers_as_the_run_predicted(trained_run):
    folder = trained_run.folder
    row = read_csv(folder / "run/dev_predictions.csv")[0]
    bert = serving.load(folder / "export")
    (answer,) = bert.classify([row["text_a"]], [row["text_b"]])
    assert answer["label"] == row["predicted_label"]


for_each_description = pytest.mark.parametrize(
    "file", ["run/model.json", "export/assets.extra/model.json"]
)


@for_each_description
def test_a_description_names_no_folder_of_the_class(trained_run, flags, file):
    text = (trained_run.folder / file).read_text("utf-8")
    assert str(flags["data_dir"]) not in text
    assert "code/" not in text


@for_each_description
def test_a_description_records_the_class_and_its_labels(trained_run, file):
    text = (trained_run.folder / file).read_text("utf-8")
    settings = json.loads(text)["origin"]["settings"]
    assert settings["processor"] == "TicketsProcessor"
    assert settings["labels"] == ["0", "1"]
    assert settings["num_texts"] == 2


@pytest.mark.parametrize(
    ("script", "model_flag"),
    [("run_classifier.py", "output_dir"), ("tools.export", "model")],
)
def test_an_export_of_a_run_needs_no_class(copied, script, model_flag):
    flags = {model_flag: "run", "export_dir": "again"}
    script_runner.run(script, copied, **flags).check()
    assert serving.load(copied / "again").head_settings["num_texts"] == 2


def test_predictions_of_a_run_need_its_class(copied, flags):
    given = split_flags("--do_predict --output_dir=other --init_checkpoint=run")
    given["data_dir"] = flags["data_dir"]
    refused = script_runner.run("run_classifier.py", copied, **given).error
    assert "set --processor=FILE.py:TicketsProcessor" in refused
    given["processor"] = flags["processor"]
    script_runner.run("run_classifier.py", copied, **given).check()
    one, other = (
        (copied / name / "predictions.jsonl").read_text("utf-8")
        for name in ("run", "other")
    )
    assert one == other


@pytest.fixture
def resume(copied, trained_run):
    """(value of --processor) -> the result of one more epoch of the run."""
    more = trained_run.flags | {"num_train_epochs": 2, "export_dir": None}

    def resume(processor):
        return script_runner.run(
            "run_classifier.py", copied, **more | {"processor": processor}
        )

    return resume


def test_a_run_resumes_with_its_class_in_another_folder(copied, resume):
    (copied / "elsewhere").mkdir()
    (copied / "elsewhere/tickets.py").write_text(TICKETS)
    resume("elsewhere/tickets.py:TicketsProcessor").check()
    assert read_results(copied / "run")["global_step"] == 15


def test_a_run_does_not_resume_with_another_class(copied, resume):
    code = TICKETS.replace("TicketsProcessor", "OtherProcessor")
    (copied / "other.py").write_text(code)
    error = resume("other.py:OtherProcessor").error
    assert "a run with processor=TicketsProcessor" in error


def test_a_run_does_not_resume_without_its_class(resume):
    assert "--processor=FILE.py:TicketsProcessor" in resume(None).error


def test_a_module_that_imports_googles_runs(flags, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/single.py").write_text(SINGLE)
    (tmp_path / "code/helper_of_single.py").write_text("NOTHING = None")
    text = "--processor=code/single.py:Single --output_dir=run"
    given = flags | split_flags(text) | split_flags("--do_train --do_eval")
    given["data_dir"] = SAMPLES / "glue"
    given["num_train_epochs"] = 0.1
    script_runner.run("run_classifier.py", tmp_path, **given).check()
    assert (tmp_path / "run/labels.txt").read_text() == "0\n1\n"
    rows = read_csv(tmp_path / "run/dev_predictions.csv")
    assert [row["text_b"] for row in rows[:2]] == ["", "caf\xe9"]
    assert not rows[0]["text_a"].startswith("b'")


# The tests of google_code.py and of user_class.py have the other mistakes.
MISTAKES = {
    "TensorFlow 1": (
        TICKETS.replace("self._read_tsv(", "tf.gfile.Open("),
        "tickets.py, line 5: TensorFlow 2 has no tf.gfile; write tf.io.gfile",
    ),
    "no class": ("x = 1", "there is no TicketsProcessor"),
    "column": (TICKETS.replace("line[4]", "line[40]"), "line 25: IndexError"),
    "label": (
        TICKETS.replace('["0", "1"]', '["no", "yes"]'),
        "get_train_examples, example train-1: unknown label",
    ),
    "file": (TICKETS.replace("first", "third"), "third.tsv"),
}


def test_the_class_in_the_documentation_reads_its_files(trained_run, tmp_path):
    page = (ROOT / "docs/fine_tuning.md").read_text("utf-8")
    (code,) = (code for code in blocks(page, "py") if "Tickets" in code)
    code = code.replace('"billing", "login"', '"0", "1"')
    (tmp_path / "tickets.py").write_text(code)
    (tmp_path / "test.tsv").write_text("0\tA bill of an inn.\n", "utf-8")
    predict = split_flags("--do_predict --output_dir=run --data_dir=.")
    predict["doc_stride"] = 4
    predict["processor"] = "tickets.py:TicketsProcessor"
    predict["init_checkpoint"] = trained_run.folder / "run"
    script_runner.run("run_classifier.py", tmp_path, **predict).check()
    entry = json.loads((tmp_path / "run/predictions.jsonl").read_text("utf-8"))
    assert entry["text_a"] == "A bill of an inn."


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_in_the_class_is_one_line(flags, tmp_path, case):
    code, message = MISTAKES[case]
    (tmp_path / "tickets.py").write_text(code)
    given = flags | split_flags("--do_train --output_dir=run")
    given["processor"] = "tickets.py:TicketsProcessor"
    done = script_runner.run("run_classifier.py", tmp_path, **given)
    assert message in f"{done.error}\n"
    assert not (tmp_path / "run/model.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"processor": "tickets.py"}, "must be FILE.py:CLASS"),
        ({"processor": "absent.py:A"}, "--processor=absent.py: No such file"),
        ({"task_name": "mrpc"}, "set either --processor, or --task_name"),
        ({"data_file": "a.csv", "data_dir": None}, "set either --processor"),
    ],
)
def test_flags_that_name_no_class_are_refused(flags, tmp_path, change, message):
    (tmp_path / "tickets.py").write_text(TICKETS)
    given = flags | split_flags("--do_train --output_dir=run") | change
    done = script_runner.run("run_classifier.py", tmp_path, **given)
    assert message in done.error
