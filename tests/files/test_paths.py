"""Paths that are refused, each by itself."""

import os

import pytest

from files import manifests
from tests.files import path_flags
from tests.files.path_flags import KINDS, check, refused


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    path_flags.create_folder(tmp_path, monkeypatch)
    return tmp_path


@pytest.mark.parametrize("flag", KINDS)
def test_an_empty_path_is_an_unset_variable(flag):
    for value in ("", " ", "\n", "\t \r", "\u00a0", " , \n"):
        if flag in ("input_file", "output_files") and "," in value:
            continue
        line = refused(**{flag: value})
        assert line.startswith(f"--{flag}= is empty")
        assert "shell variable" in line


def test_one_empty_name_among_several():
    assert "one of the names is empty" in refused(output_files="a,,b")
    assert "one of the names is empty" in refused(output_files="a,")
    # A list of inputs may end in a comma, as shells make them.
    check(input_file="corpus.txt,")


@pytest.mark.parametrize("flag", KINDS)
def test_text_that_is_no_path(flag):
    for char in "\0\n\r\t\x1b\x7f\u2028":
        line = refused(**{flag: f"a{char}b"})
        assert line.startswith(f"--{flag}=") and "control character" in line
        assert line.isprintable()
    assert "not valid UTF-8" in refused(**{flag: "caf\udce9"})


@pytest.mark.parametrize(
    "values, message",
    [
        ({"output_file": "data"}, "data is a folder; use the path of a file"),
        ({"output_file": "new/"}, "new/ is a folder"),
        ({"output_files": "a,data"}, "data is a folder"),
        ({"vocab_file": "data"}, "data is a folder"),
        ({"input_file": "corpus.txt,data"}, "data is a folder"),
        ({"data_dir": "corpus.txt"}, "is a file; use the path of a folder"),
        ({"output_dir": "corpus.txt"}, "is a file"),
        ({"export_weights": "corpus.txt"}, "is a file"),
        ({"export_dir": "corpus.txt"}, "is a file"),
        ({"output_dir": "nothing"}, "a symbolic link to gone, which does"),
        ({"export_weights": "nothing"}, "a symbolic link to gone"),
        ({"export_dir": "linked_data"}, "is a symbolic link"),
        ({"export_dir": "nothing"}, "is a symbolic link"),
        ({"export_dir": "linked_data/"}, "is a symbolic link"),
        ({"output_file": "corpus.txt/new"}, "corpus.txt is not a folder"),
        ({"output_dir": "corpus.txt/new"}, "corpus.txt is not a folder"),
        ({"export_dir": "corpus.txt/a/b"}, "corpus.txt is not a folder"),
        ({"export_weights": "corpus.txt/a.ckpt"}, "is not a folder"),
    ],
)
def test_files_and_folders_are_distinguished(values, message):
    line = refused(**values)
    assert message in line
    assert line.startswith(tuple(f"--{flag}=" for flag in values))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_is_write_protected():
    os.chmod("vocab.txt", 0o444)
    os.chmod("data", 0o555)
    try:
        assert "vocab.txt is write-protected" in refused(
            output_file="vocab.txt"
        )
        for flag in ("output_file", "output_dir", "export_dir"):
            line = refused(**{flag: "data/new"})
            assert line.endswith("data is write-protected; use another path")
    finally:
        os.chmod("data", 0o755)


@pytest.mark.parametrize("flag", ["output_dir", "export_dir"])
def test_runs_and_exports_need_a_local_folder(flag):
    """Their files would land in a local folder with the name `gs:`."""
    assert "is a remote path" in refused(**{flag: "gs://bucket/run"})


def test_a_model_that_is_not_ours_is_not_replaced(folder):
    for name in ("model.safetensors", "bert_config.json", "labels.txt"):
        target = folder / f"with_{name}"
        target.mkdir()
        (target / name).write_text("theirs")
        line = refused(export_weights=target.name)
        assert f"--export_weights={target.name}: " in line
        assert f"contains {name}, which its bert_weights.json does not" in line
        manifests.add(target, [name])
        check(export_weights=target.name)
    assert "contains bert_model.ckpt.data-00000-of-00001, ber" in refused(
        export_weights="model/bert_model.ckpt"
    )
    # What is neither replaced nor a part of a model may stay.
    (folder / "mixed").mkdir()
    (folder / "mixed" / "README.md").write_text("theirs")
    check(export_weights="mixed")
    check(export_weights="mixed/own.ckpt")
    # One description cannot be of two models.
    (folder / "mixed" / "vocab.txt").write_text("theirs")
    line = refused(export_weights="mixed/own.ckpt")
    assert "mixed contains vocab.txt, which its bert_weights.json" in line
