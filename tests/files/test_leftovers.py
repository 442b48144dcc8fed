"""A command removes the partial outputs of its killed runs."""

import os
import subprocess
import sys

import pytest

import training
from files import atomic, run_files
from files.paths import Kind, PathFlag
from tests import script_runner
from tests.golden import ROOT

# It registers the names of its files.
assert training

WRITE = """
import sys, time
from files import atomic
with atomic.atomic_open(sys.argv[1]) as file:
    print("begun", flush=True)
    time.sleep(600)
"""


def remove(kind, path):
    run_files.remove_leftovers(PathFlag("flag", str(path), kind))


@pytest.mark.parametrize("kind", [Kind.OUTPUT_FILE, Kind.OUTPUT_FILES])
def test_a_file_that_is_being_written_stays(tmp_path, monkeypatch, kind):
    found, replace = [], os.replace

    def look(source, target):
        # The lock lasts until the file has its name.
        remove(kind, target)
        found.append(os.path.exists(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", look)
    atomic.write_text(tmp_path / "out", "text")
    assert found == [True] and os.listdir(tmp_path) == ["out"]


# Kind and value of a flag, and what its runs leave.
OURS = [
    (Kind.OUTPUT_FILE, "out", "out.partial-7"),
    (
        Kind.MODEL_OUTPUT,
        "",
        "model.safetensors.partial-7/config.json bert_weights.json.partial-7 "
        "bert_model.ckpt.index.partial-8/vocab.txt",
    ),
    (
        Kind.MODEL_OUTPUT,
        "out.ckpt",
        "out.ckpt.index.partial-7/out.ckpt.data-00000-of-00001",
    ),
    (
        Kind.RUN_FOLDER,
        "",
        "eval_results.txt.partial-7 best/labels.txt.partial-7",
    ),
]
# What no run leaves, but for a run whose output is `out`.
THEIRS = """
    out out.partial- out.partial-7 out.partial-7a out.partial-7.txt
    my-out.partial-7 out.ckpt.partial-7.txt notes.safetensors.partial-7
    config.partial-7/config.json run_old/eval_results.txt.partial-7
    sub/labels.txt.partial-7
"""


@pytest.mark.parametrize("kind, value, ours", OURS)
def test_only_exact_names_of_the_outputs_go(tmp_path, kind, value, ours):
    ours = ours.split()
    theirs = [path for path in THEIRS.split() if path not in ours]
    for path in [*ours, *theirs]:
        os.makedirs((tmp_path / path).parent, exist_ok=True)
        (tmp_path / path).write_text("x")
    remove(kind, tmp_path / value)
    for path in ours:
        # The folder of a model as well.
        is_model = kind is not Kind.RUN_FOLDER
        first = path.split("/")[0] if is_model else path
        assert not (tmp_path / first).exists(), path
    for path in theirs:
        assert (tmp_path / path).read_text() == "x", path


def test_a_script_removes_what_its_earlier_run_left(tmp_path):
    (tmp_path / "corpus.txt").write_text("a few words\n")
    command = [sys.executable, "-c", WRITE, str(tmp_path / "v.txt")]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "begun\n"
        process.kill()
    partial = tmp_path / f"v.txt.partial-{process.pid}"
    assert partial.exists()
    (tmp_path / "v.txt.partial-x").touch()
    script_runner.run(
        "tools.create_vocabulary",
        tmp_path,
        input_file="corpus.txt",
        output_file="v.txt",
    ).check()
    assert {*os.listdir(tmp_path)} >= {"v.txt", "v.txt.partial-x"}
    assert not partial.exists()
