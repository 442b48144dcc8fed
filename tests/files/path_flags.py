"""Files, flags that name them, and the check of such flags."""

import os

import pytest

from files import path_checks, paths, run_files
from files.paths import Kind

run_files.register("predictions.json", "model.ckpt-*.index", "eval_results*")

KINDS = {
    "input_file": Kind.INPUT_FILES,
    "output_file": Kind.OUTPUT_FILE,
    "output_files": Kind.OUTPUT_FILES,
    "vocab_file": Kind.INPUT_FILE,
    "train_file": Kind.INPUT_FILE,
    "data_dir": Kind.DATA_FOLDER,
    "init_checkpoint": Kind.MODEL,
    "output_dir": Kind.RUN_FOLDER,
    "export_weights": Kind.MODEL_OUTPUT,
    "export_dir": Kind.EXPORT_FOLDER,
}


def create_folder(tmp_path, monkeypatch):
    """Makes some files in a folder, and makes it the current one.

    corpus.txt vocab.txt linked.txt -> corpus.txt, hard.txt = corpus.txt
    data/train.tsv
    model/bert_model.ckpt.index model/vocab.txt
    run/model.ckpt-5.index run/predictions.json run/train.json
    nothing -> gone, loop -> data
    """
    monkeypatch.chdir(tmp_path)
    for name in ("data", "model", "run/best"):
        os.makedirs(name)
    for name in (
        "corpus.txt",
        "vocab.txt",
        "data/train.tsv",
        "model/bert_model.ckpt.index",
        "model/bert_model.ckpt.data-00000-of-00001",
        "model/vocab.txt",
        "run/model.ckpt-5.index",
        "run/predictions.json",
        "run/train.json",
    ):
        (tmp_path / name).write_text(name)
    os.symlink("corpus.txt", "linked.txt")
    os.link("corpus.txt", "hard.txt")
    os.symlink("gone", "nothing")
    os.symlink("data", "linked_data")


def check(**values):
    path_checks.check_paths(
        [
            paths.PathFlag(flag, value, KINDS[flag])
            for flag, value in values.items()
        ]
    )


def refused(**values):
    """Returns the one line that says why paths are refused."""
    with pytest.raises((ValueError, OSError)) as caught:
        check(**values)
    line = str(caught.value)
    assert "\n" not in line
    line.encode("utf-8")
    return line
