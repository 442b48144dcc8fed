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


# Flags -> what the refusal says; without an arrow, they go together.
TABLE = """
    input_file=*.txt vocab_file=vocab.txt output_file=data/new
    input_file=corpus.txt output_file=new.txt
    # A file that was written before is replaced, as in the original.
    input_file=corpus.txt output_file=vocab.txt
    # An input that is not there has nothing to lose.
    vocab_file=absent output_file=absent

    # A model's folder, and a checkpoint, which is all its files.
    init_checkpoint=model output_file=model/features -> a model to read
    init_checkpoint=model output_file=model/vocab.txt -> a model to read
    init_checkpoint=model output_file=model/new/features -> a model to read
    init_checkpoint=MODEL output_file=MODEL.index -> are the same
    init_checkpoint=MODEL output_file=MODEL.data-00000-of-00001 -> are the same
    init_checkpoint=MODEL export_weights=MODEL -> are the same
    init_checkpoint=MODEL export_weights=model -> inside --export_weights=model
    init_checkpoint=MODEL output_file=model/features
    init_checkpoint=MODEL export_weights=new/new.ckpt
    vocab_file=model/vocab.txt export_weights=model -> could overwrite

    output_dir=run export_dir=run/export -> an export needs a folder of its own
    init_checkpoint=run export_dir=run/export -> needs a folder of its own
    export_weights=run export_dir=run/export -> needs a folder of its own
    # The user's own tables and everything else in the current folder.
    data_dir=. output_dir=output/run export_dir=output/export

    # Going on with a run, from its own checkpoints too.
    output_dir=run init_checkpoint=run/model.ckpt-5
    output_dir=run init_checkpoint=run/best
    output_dir=run init_checkpoint=run
    # A folder for everything: only what the run writes must not be there.
    output_dir=. vocab_file=vocab.txt input_file=corpus.txt
    output_dir=run train_file=run/train.json data_dir=run/best
    output_dir=run output_file=run/new
    output_dir=run train_file=run/predictions.json -> the run writes a file of
    output_dir=run output_file=run/predictions.json -> the run writes a file of
    output_dir=run output_file=run/model.ckpt-7.index -> the run writes a file
    output_dir=data data_dir=linked_data -> --data_dir=linked_data are the same

    output_dir=new export_weights=./new -> are the same
    output_files=a,./a -> --output_files=a,./a: ./a is named twice
    output_file=a output_dir=a/run -> a file cannot contain
    output_files=a,b output_dir=run export_weights=run/weights
    output_dir=run export_weights=run/weights/a.ckpt
    output_dir=run export_weights=run/a.ckpt -> the run writes its own
    output_dir=run export_weights=run/best -> the run writes its own
    output_dir=run export_weights=run/averages/a.ckpt -> the run writes
    output_dir=run export_weights=run/run_2/best/a.ckpt -> the run writes

    # Remote paths are compared as text.
    input_file=gs://b/*.txt output_file=gs://b/out
    export_weights=gs://b/new init_checkpoint=gs://b/new/a/b
    export_weights=gs://b/new/ data_dir=gs://b/new -> are the same
    export_weights=gs://b/new vocab_file=gs://b/new/vocab.txt -> could overwrite
    # Keys of an object store, not folders: an empty part or a dot counts.
    export_weights=gs://b//new data_dir=gs://b/new
    export_weights=gs://b/./new data_dir=gs://b/new
"""


@pytest.mark.parametrize(
    "line", [x.strip() for x in TABLE.splitlines() if "=" in x]
)
def test_flags_that_go_together_and_others(line):
    line = line.replace("MODEL", "model/bert_model.ckpt")
    flags, _, message = line.partition(" -> ")
    values = dict(flag.split("=") for flag in flags.split())
    if message:
        assert message in refused(**values)
    else:
        check(**values)


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
        assert "is named like a shard of --output_files=a,./wiki" in line
    assert "a shard of" in refused(
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
        assert "a shard of" in refused(input_file=given, output_files="books")


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
        assert "the model could overwrite the input" in refused(
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
