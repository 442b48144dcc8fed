"""A command opens each of its files once before the first step."""

import collections
import shutil
import subprocess
import sys

import pytest

from tests.conftest import write_config
from tests.support import task_files
from tests.support.golden import ROOT
from tests.support.script_runner import SAMPLES
from tests.support.squad_files import write_squad

# Runs a script, and prints each file that it opens to read, as Python sees it:
# TensorFlow's own code opens checkpoints, records, and files for a checksum.
PROGRAM = """
import os, runpy, sys

def show(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.relpath(arguments[0])
        if not path.startswith("..") and os.path.isfile(path):
            if arguments[2] & os.O_ACCMODE == os.O_RDONLY:
                print("opened", path)

sys.addaudithook(show)
del sys.argv[0]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def opened(folder, script, command):
    """Returns {file in `folder`: how often a command opened it to read}.

    Leaves out the files that the command itself wrote.
    """
    before = {str(x.relative_to(folder)) for x in folder.rglob("*")}
    arguments = [str(ROOT / script), *command.split()]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    paths = [path for word, _, path in lines if word == "opened"]
    return collections.Counter(path for path in paths if path in before)


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
DESCRIPTION = (
    "bert_config.json",
    "labels.txt",
    "model.json",
    "tokenizer_config.json",
    "vocab.txt",
)


def test_a_table_and_the_folder_of_a_run_are_read_once(folder):
    shutil.copy(SAMPLES / "topics/dev.csv", folder / "table.csv")
    files = ("table.csv", "vocab.txt", "bert_config.json")
    data = "--data_file=table.csv --report"
    found = opened(
        folder, "run_classifier.py", f"{SHORT} {data} --output_dir=run"
    )
    for name in (*files, "tokenizer_config.json"):
        assert found[name] == 1, (name, found)
    # The commands that do not train know all that the run recorded.
    for script, command in (
        ("run_classifier.py", f"--nodo_train {data} --export_dir=export"),
        ("run_classifier.py", "--nodo_train --nodo_eval --export_dir=export"),
    ):
        shutil.rmtree(folder / "export", ignore_errors=True)
        found = opened(folder, script, f"{command} --output_dir=run")
        assert found["table.csv"] == ("table.csv" in command)
        for name in DESCRIPTION:
            assert found[f"run/{name}"] == 1, (name, found)
    # A new run starts from the weights of another one, or resumes.
    for options in ("", "--num_train_epochs=2"):
        found = opened(
            folder,
            "run_classifier.py",
            f"{data} --init_checkpoint=run --output_dir=new {options}",
        )
        assert found["table.csv"] == 1
        for name in DESCRIPTION:
            # Only a folder that a run resumes is compared before it is
            # replaced.
            assert found[f"run/{name}"] <= 1, (name, found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "write", "data", "files"),
    [
        (
            "run_classifier.py",
            lambda folder: task_files.write_mnli(folder / "data"),
            "--task_name=mnli --data_dir=data",
            ("train.tsv", "dev_matched.tsv", "dev_mismatched.tsv"),
        ),
        (
            "run_ner.py",
            lambda folder: task_files.write_entity_sets(folder / "data"),
            "--data_dir=data",
            ("train.txt", "valid.txt"),
        ),
        (
            "run_swag.py",
            lambda folder: task_files.write_swag_sets(folder / "data"),
            "--data_dir=data --train_batch_size=2",
            ("train.csv", "val.csv"),
        ),
        (
            "run_squad.py",
            lambda folder: write_squad(
                folder / "data/dev.json",
                [[(0, "the river")], [(0, "the river")]],
                context="the river runs to the sea",
            ),
            "--train_file=data/dev.json --predict_file=data/dev.json "
            "--doc_stride=8 --max_query_length=8",
            (),
        ),
    ],
)
def test_a_task_reads_its_data_once(folder, script, write, data, files):
    (folder / "data").mkdir()
    write(folder)
    command = f"{SHORT} {data} --do_train --do_eval --output_dir=run"
    found = opened(folder, script, command)
    for name in files:
        assert found[f"data/{name}"] == 1, (name, found)
    if not files:
        # The file is both the train set and the dev set.
        assert found["data/dev.json"] == 2
    assert found["vocab.txt"] == found["bert_config.json"] == 1
