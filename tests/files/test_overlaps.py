"""Outputs that would overwrite inputs, or each other."""

import os
import socket

import pytest

from tests.files import path_flags
from tests.files.path_flags import check, refused


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    path_flags.create_folder(tmp_path, monkeypatch)
    return tmp_path


@pytest.mark.parametrize(
    "path", ["corpus.txt", "./data/../corpus.txt", "linked.txt", "hard.txt"]
)
def test_an_output_that_is_an_input(path, folder):
    for output in ("output_file", "output_files"):
        assert "are the same" in refused(
            input_file="vocab.txt,corpus.txt", **{output: path}
        )
        line = refused(vocab_file=str(folder / path), **{output: "corpus.txt"})
        assert line.startswith(f"--{output}=corpus.txt and --vocab_file=")
    line = refused(input_file="*.txt", output_file=path)
    assert "--input_file=*.txt (" in line


def test_an_output_file_next_to_its_inputs():
    check(input_file="*.txt", vocab_file="vocab.txt", output_file="data/new")
    check(input_file="corpus.txt", output_file="new.txt")
    # A file that was written before is replaced, as in the original.
    check(input_file="corpus.txt", output_file="vocab.txt")
    # An input that is not there has nothing to lose.
    check(vocab_file="absent", output_file="absent")


@pytest.mark.parametrize(
    "output", ["model/features", "model/vocab.txt", "model/new/features"]
)
def test_an_output_file_in_a_models_folder(output):
    line = refused(init_checkpoint="model", output_file=output)
    assert "is inside --init_checkpoint=model: that is a model" in line


def test_a_checkpoint_is_all_its_files():
    prefix = "model/bert_model.ckpt"
    for end in (".index", ".data-00000-of-00001"):
        assert "are the same" in refused(
            init_checkpoint=prefix, output_file=prefix + end
        )
    assert "are the same" in refused(
        init_checkpoint=prefix, export_weights=prefix
    )
    assert "is inside --export_weights=model" in refused(
        init_checkpoint=prefix, export_weights="model"
    )
    check(init_checkpoint=prefix, output_file="model/features")
    check(init_checkpoint=prefix, export_weights="model/new.ckpt")


@pytest.mark.parametrize(
    "other",
    [
        {"output_dir": "x/run"},
        {"output_dir": "run"},
        {"init_checkpoint": "model"},
        {"init_checkpoint": "model/bert_model.ckpt"},
        {"data_dir": "data"},
        {"data_dir": "linked_data"},
        {"train_file": "data/train.tsv"},
        {"input_file": "data/*.tsv"},
        {"output_file": "x/features"},
        {"export_weights": "x/weights"},
        {"export_weights": "x/weights.ckpt"},
    ],
)
def test_an_export_has_its_folder_to_itself(other):
    [(flag, value)] = other.items()
    start = value if os.path.isdir(value) else os.path.dirname(value)
    start = os.path.relpath(os.path.realpath(start))
    around = (start, ".", f"{start}/../{start}", os.path.abspath(start))
    for export_dir in around:
        line = refused(export_dir=export_dir, **other)
        assert f"--export_dir={export_dir}" in line and f"--{flag}=" in line
    check(export_dir="new/export", **other)


def test_an_export_inside_another_folder():
    for flag in ("output_dir", "init_checkpoint", "export_weights"):
        line = refused(**{flag: "run"}, export_dir="run/export")
        assert "an export needs a folder of its own" in line
    # The user's own tables and everything else in the current folder.
    check(data_dir=".", output_dir="output/run", export_dir="output/export")


def test_folders_of_runs():
    # Going on with a run, from its own checkpoints too.
    check(output_dir="run", init_checkpoint="run/model.ckpt-5")
    check(output_dir="run", init_checkpoint="run/best")
    check(output_dir="run", init_checkpoint="run")
    # A folder for everything: only what the run writes must not be there.
    check(output_dir=".", vocab_file="vocab.txt", input_file="corpus.txt")
    check(output_dir="run", train_file="run/train.json", data_dir="run/best")
    assert "the run writes a file of that name" in refused(
        output_dir="run", train_file="run/predictions.json"
    )
    assert "--output_dir=data and --data_dir=linked_data are the same" in (
        refused(output_dir="data", data_dir="linked_data")
    )
    assert "are the same" in refused(output_dir="new", export_weights="./new")
    assert "could be overwritten" in refused(
        vocab_file="model/vocab.txt", export_weights="model"
    )


def test_outputs_among_themselves():
    assert "--output_files=a,./a: ./a is named twice" in refused(
        output_files="a,./a"
    )
    assert "that is a file" in refused(output_file="a", output_dir="a/run")
    check(output_files="a,b", output_dir="run", export_weights="run/weights")


def test_inputs_named_like_the_parts_of_an_output(folder):
    os.mkdir("wiki.work")
    for name in (
        "wiki-00000-of-00008",
        "wiki-notes-of-00008",
        "wiki.manifest.json",
        "wiki.lock",
        "wiki.work/text",
        "wiki-00000-of-00008.partial-77",
    ):
        (folder / name).write_text("")
    for given in (
        "wiki-0*",
        "wiki.manifest.json",
        "wiki.lock",
        "wiki.work/text",
    ):
        line = refused(input_file=given, output_files="a,./wiki")
        assert "has the name of a part of --output_files=a,./wiki" in line
    assert "a part of" in refused(
        input_file="wiki-00000-of-00008.partial-77", output_files="wiki"
    )
    check(input_file="wiki-notes*", output_files="wiki")
    check(input_file="wiki-0*", output_files="wiki-0", output_file="wiki")


def test_inputs_and_parts_of_an_output_that_are_links():
    """Numbers are added to the name of a link, not of what it leads to."""
    os.mkdir("other")
    os.symlink("other/books", "books")
    os.symlink("corpus.txt", "books-00000-of-00002")
    for given in ("corpus.txt", "books-0*"):
        assert "a part of" in refused(input_file=given, output_files="books")


def test_a_checkpoint_next_to_a_file_of_its_name(folder):
    (folder / "model" / "bert_model.ckpt").write_text("")
    assert "are the same" in refused(
        init_checkpoint="model/bert_model.ckpt",
        output_file="model/bert_model.ckpt.index",
    )


def test_an_input_that_is_a_link_to_what_a_run_writes():
    os.symlink("run/predictions.json", "answers.json")
    assert "the run writes a file of that name" in refused(
        train_file="answers.json", output_dir="run"
    )


def test_an_input_that_is_a_link_in_the_folder_of_an_output(folder):
    os.symlink("../corpus.txt", "run/eval_results.txt")
    os.symlink("../corpus.txt", "model/model.safetensors")
    os.symlink("../vocab.txt", "run/text")
    assert "the run writes a file of that name" in refused(
        input_file="run/eval_results.txt", output_dir="run"
    )
    for given in ("model/model.safetensors", "./model/model.safetensors"):
        assert "it could be overwritten there" in refused(
            init_checkpoint=given, export_weights="model"
        )
    check(input_file="run/text", output_dir="run", export_weights="model/new")


def test_a_link_in_a_runs_folder_that_leads_to_an_input(folder):
    """Results are written through links, to their targets."""
    os.symlink("../corpus.txt", "run/eval_results.txt")
    os.symlink("../vocab.txt", "run/notes.txt")
    line = refused(input_file="corpus.txt", output_dir="run")
    assert "--output_dir=run (run/eval_results.txt) and --input_file" in line
    check(vocab_file="vocab.txt", output_dir="run")
    os.symlink("bert_model.ckpt.index", "model/model.ckpt-0.index")
    check(init_checkpoint="model/bert_model.ckpt", output_dir="model")


def test_an_output_named_like_what_a_run_writes():
    for name in ("predictions.json", "model.ckpt-7.index"):
        assert "the run writes a file of that name" in refused(
            output_file=f"run/{name}", output_dir="run"
        )
    check(output_file="run/new", output_dir="run")


def test_paths_with_the_scheme_of_local_files(folder):
    corpus = f"file://{folder}/corpus.txt"
    check(input_file=corpus, output_file="vocab.new")
    for flag in ("output_file", "output_files", "output_dir", "export_dir"):
        assert "without file://" in refused(**{flag: corpus})
    assert "are the same" in refused(
        input_file=corpus, output_file="corpus.txt"
    )


def test_a_pipe_that_would_be_read_and_written(folder):
    """The reader would wait for ever for what the same process writes."""
    os.mkfifo("fifo")
    os.symlink("../fifo", "data/link")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in ("fifo", "data/link", "socket"):
            other = "socket" if path == "socket" else "./fifo"
            assert "are the same" in refused(input_file=path, output_file=other)
    assert "is named twice" in refused(output_files="fifo,data/link")
    check(input_file="fifo", output_file="data/new")
    check(input_file="corpus.txt", output_file="fifo")


def test_a_terminal_is_read_and_written():
    """As /dev/stdin and /dev/stdout in an interactive shell."""
    terminal, other = os.openpty()
    path = os.ttyname(other)
    check(input_file=path, output_file=path)
    os.close(terminal)
    os.close(other)


def test_remote_paths_are_compared_as_text():
    bucket = "gs://bucket"
    check(input_file=f"{bucket}/*.txt", output_file=f"{bucket}/out")
    check(export_weights=f"{bucket}/new", init_checkpoint=f"{bucket}/new/a/b")
    assert "are the same" in refused(
        export_weights=f"{bucket}/new/", data_dir=f"{bucket}/new"
    )
    assert "it could be overwritten there" in refused(
        export_weights=f"{bucket}/new", vocab_file=f"{bucket}/new/vocab.txt"
    )
