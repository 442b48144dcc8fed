"""A command opens each of its files once before the first step."""

import collections
import shutil

import pytest

from tests.support import fresh_process
from tests.support.models import write_config
from tests.support.paths import ROOT, SAMPLES
from tests.support.squad.squad_passages import write_squad
from tests.support.tasks import task_files

# Runs a script, and prints each file that it opens to read, as Python sees it:
# "summed" if only for a checksum. TensorFlow's own code opens checkpoints and
# records.
PROGRAM = """
import os, runpy, sys

def is_for_checksum():
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith("file_checksums.py"):
            return True
        frame = frame.f_back
    return False

def show(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.relpath(arguments[0])
        if not path.startswith("..") and os.path.isfile(path):
            if arguments[2] & os.O_ACCMODE == os.O_RDONLY:
                print("summed" if is_for_checksum() else "opened", path)

sys.addaudithook(show)
del sys.argv[0]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def count_opened(folder, script, command):
    """Returns {file in `folder`: how often a command opened it to read}.

    The key "FILE (checksum)" counts how often a file was opened only for its
    checksum. Leaves out the files that the command itself wrote.
    """
    before = {str(x.relative_to(folder)) for x in folder.rglob("*")}
    arguments = [str(ROOT / script), *command.split()]
    done = fresh_process.run("-c", PROGRAM, *arguments, cwd=folder).check()
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    counts = collections.Counter()
    for word, _, path in lines:
        if path in before and word in ("opened", "summed"):
            counts[path if word == "opened" else f"{path} (checksum)"] += 1
    return counts


@pytest.fixture
def folder(tmp_path):
    """A folder with a vocabulary and a configuration of the network."""
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(SAMPLES / name, tmp_path)
    write_config(tmp_path / "bert_config.json")
    return tmp_path


MODEL = "--bert_config_file=bert_config.json --vocab_file=vocab.txt"
SHORT = f"{MODEL} --max_seq_length=24 --num_train_epochs=1"
# Files that describe the weights of a run.
DESCRIPTION_OF_RUN = [
    f"run/{name}"
    for name in (
        "bert_config.json",
        "labels.txt",
        "model.json",
        "tokenizer_config.json",
        "vocab.txt",
    )
]


def check_read_once(counts, names):
    """Checks that a command read each file exactly once."""
    assert {name: counts[name] for name in names} == dict.fromkeys(names, 1)


DATA = "--data_file=table.csv --report"


@pytest.fixture
def trained_run(folder):
    """`folder` with a table and a `run` on it, and what the run opened."""
    shutil.copy(SAMPLES / "topics/dev.csv", folder / "table.csv")
    command = f"{SHORT} {DATA} --output_dir=run"
    return folder, count_opened(folder, "run_classifier.py", command)


@pytest.fixture
def run_folder(trained_run):
    """The folder of `trained_run`."""
    return trained_run[0]


def test_a_run_reads_its_table_and_its_model_once(trained_run):
    _, counts = trained_run
    model = ("vocab.txt", "bert_config.json", "tokenizer_config.json")
    check_read_once(counts, ["table.csv", "table.csv (checksum)", *model])


# The commands that do not train know all that the run recorded.
def test_an_evaluation_reads_its_table_and_the_run_once(run_folder):
    command = f"--nodo_train {DATA} --export_dir=export --output_dir=run"
    counts = count_opened(run_folder, "run_classifier.py", command)
    check_read_once(counts, ["table.csv", *DESCRIPTION_OF_RUN])


def test_an_export_reads_the_run_once_and_no_table(run_folder):
    command = "--nodo_train --nodo_eval --export_dir=export --output_dir=run"
    counts = count_opened(run_folder, "run_classifier.py", command)
    check_read_once(counts, DESCRIPTION_OF_RUN)
    assert not counts["table.csv"]


def test_a_start_from_a_run_reads_its_table_and_the_run_once(run_folder):
    command = f"{DATA} --init_checkpoint=run --num_train_epochs=1"
    counts = count_opened(
        run_folder, "run_classifier.py", f"{command} --output_dir=new"
    )
    check_read_once(counts, ["table.csv", *DESCRIPTION_OF_RUN])


def write_questions(folder):
    """Writes a train set and a dev set of two questions each."""
    context = "the river runs to the sea"
    answers = [[(0, "the river")], [(4, "river")]]
    for name in ("train", "dev"):
        write_squad(folder / f"{name}.json", answers, context=context)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "write", "flags", "files"),
    [
        (
            "run_classifier.py",
            task_files.write_regression,
            "--task_name=sts-b --data_dir=data",
            ("train.tsv", "dev.tsv", "test.tsv"),
        ),
        (
            "run_ner.py",
            task_files.write_entity_sets,
            "--data_dir=data",
            ("train.txt", "valid.txt", "test.txt"),
        ),
        (
            "run_swag.py",
            task_files.write_swag_sets,
            "--data_dir=data",
            ("train.csv", "val.csv", "test.csv"),
        ),
        (
            "run_squad.py",
            write_questions,
            "--train_file=data/train.json --predict_file=data/dev.json "
            "--doc_stride=8 --max_query_length=8",
            ("train.json", "dev.json"),
        ),
    ],
)
def test_a_task_reads_its_data_once(folder, script, write, flags, files):
    (folder / "data").mkdir()
    write(folder / "data")
    evaluates = "" if script == "run_squad.py" else "--do_eval"
    counts = count_opened(
        folder,
        script,
        f"{SHORT} {flags} --do_train {evaluates} --do_predict "
        "--train_batch_size=2 --output_dir=run",
    )
    model = ["vocab.txt", "bert_config.json"]
    check_read_once(counts, [*(f"data/{name}" for name in files), *model])
