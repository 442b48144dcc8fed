"""Paths in flags: what is refused, by itself or with the path of another."""

import os

import pytest

from options import path_flags
from options.fields import PathType
from options.path_flags import PathFlag

KINDS = {
    "input_file": PathType.INPUT_FILES,
    "output_file": PathType.OUTPUT_FILE,
    "output_files": PathType.OUTPUT_FILES,
    "vocab_file": PathType.MODEL,
    "train_file": PathType.INPUT_FILE,
    "data_dir": PathType.DATA_FOLDER,
    "runs": PathType.RUNS,
    "init_checkpoint": PathType.MODEL,
    "output_dir": PathType.RUN_FOLDER,
    "export_weights": PathType.NEW_FOLDER,
    "export_dir": PathType.NEW_FOLDER,
}
FILES = """
    corpus.txt vocab.txt data/train.tsv
    model/bert_model.ckpt.index model/bert_model.ckpt.data-00000-of-00001
    model/vocab.txt run/model.ckpt-5.index run/train.json run/best/file
"""
# The name of a link -> its target.
LINKS = {
    "linked.txt": "corpus.txt",
    "linked_data": "data",
    "answers.json": "run/train.json",
    "data/link": "../fifo",
    "links/eval_results.txt": "../corpus.txt",
    "links/vocab.txt": "../vocab.txt",
    "links/data": "../data",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with files, links and a pipe to name in flags."""
    monkeypatch.chdir(tmp_path)
    for name in [*FILES.split(), *LINKS]:
        os.makedirs((tmp_path / name).parent, exist_ok=True)
    for name in FILES.split():
        (tmp_path / name).write_text(name)
    for name, target in LINKS.items():
        os.symlink(target, name)
    os.mkdir("other")
    os.link("corpus.txt", "hard.txt")
    os.mkfifo("fifo")
    return tmp_path


def check_paths(values):
    """Checks the paths in {flag: path}."""
    flags = [
        PathFlag(name, value, KINDS[name]) for name, value in values.items()
    ]
    path_flags.check_paths(flags)


def refusal_of(values, error=ValueError):
    """Returns the one line that says why paths are refused."""
    with pytest.raises(error) as caught:
        check_paths(values)
    assert type(caught.value) is error
    line = str(caught.value)
    assert "\n" not in line
    line.encode("utf-8")
    assert line.startswith(tuple(f"--{flag}=" for flag in values))
    return line


# Flags that do not go together, and the class of the error.
REFUSED = [
    ("output_file=data", IsADirectoryError),
    ("output_file=corpus.txt/new", PermissionError),
    # Their files would land in a local folder with the name `gs:`.
    ("output_dir=gs://bucket/run", ValueError),
    ("export_dir=gs://bucket/run", ValueError),
    ("output_files=a,,b", ValueError),
    # All these are one file.
    (
        "input_file=vocab.txt,corpus.txt output_file=./data/../corpus.txt",
        ValueError,
    ),
    ("input_file=corpus.txt output_files=linked.txt", ValueError),
    ("vocab_file=linked.txt output_files=hard.txt", ValueError),
    ("input_file=*.txt output_file=hard.txt", ValueError),
    # A model's folder, and a checkpoint, which is all its files.
    ("init_checkpoint=model output_file=model/vocab.txt", ValueError),
    ("init_checkpoint=model output_file=model/new/features", ValueError),
    ("init_checkpoint=MODEL output_file=MODEL.data-00000-of-00001", ValueError),
    ("init_checkpoint=MODEL export_weights=model", ValueError),
    ("vocab_file=model/vocab.txt export_weights=model", ValueError),
    ("output_dir=run export_dir=run/export", ValueError),
    ("output_dir=run/inner export_dir=run", ValueError),
    ("train_file=data/train.tsv export_dir=./data/../data", ValueError),
    ("init_checkpoint=run export_dir=run/export", ValueError),
    ("data_dir=. output_dir=.", ValueError),
    ("data_dir=data export_dir=.", ValueError),
    ("output_dir=. input_file=corpus.txt", ValueError),
    ("output_dir=run train_file=run/train.json", ValueError),
    ("output_dir=run output_file=run/new", ValueError),
    ("runs=. output_file=run/model.json", ValueError),
    ("output_dir=data data_dir=linked_data", ValueError),
    ("output_dir=new export_weights=./new", ValueError),
    ("output_files=a,./a", ValueError),
    ("output_file=a output_dir=a/run", ValueError),
    ("input_file=gs://b/out output_file=gs://b/out", ValueError),
    # A local file with a scheme.
    ("input_file=URL output_file=corpus.txt", ValueError),
    # Inputs that are links to what a run writes.
    ("train_file=answers.json output_dir=run", ValueError),
    # Results are written through links, to their targets.
    ("input_file=corpus.txt output_dir=links", ValueError),
    # The reader of a pipe would wait for ever for its own process.
    ("input_file=fifo output_file=./fifo", ValueError),
    ("input_file=data/link output_file=./fifo", ValueError),
    ("output_files=fifo,data/link", ValueError),
]
# Flags that go together.
ACCEPTED = [
    # A list of inputs may end in a comma, as shells make them.
    "input_file=corpus.txt,",
    "input_file=*.txt vocab_file=vocab.txt output_file=new/new",
    # A file that was written before is replaced, as by Google's code.
    "input_file=corpus.txt output_file=vocab.txt",
    "init_checkpoint=model output_file=model.jsonl",
    "init_checkpoint=MODEL output_file=model/features",
    # The user's own tables and everything else in the current folder.
    "data_dir=. output_dir=output/run export_dir=output/export",
    # Going on with a run, from its own checkpoints too.
    "output_dir=run init_checkpoint=run/best",
    "output_dir=run init_checkpoint=run vocab_file=run/train.json",
    "runs=. output_file=run/table.md",
    "output_files=a,b output_dir=run export_weights=weights",
    # Remote paths are compared as text.
    "input_file=gs://b/*.txt output_file=gs://b/out",
    "vocab_file=vocab.txt data_dir=data output_dir=links",
    "input_file=corpus.txt output_file=fifo",
]


def parse_line(line, folder):
    """Returns {flag: path} of a line of the lists above."""
    line = line.replace("MODEL", "model/bert_model.ckpt")
    line = line.replace("URL", f"file://{folder}/corpus.txt")
    return dict(flag.split("=") for flag in line.split())


@pytest.mark.parametrize(("line", "error"), REFUSED)
def test_flags_that_do_not_go_together_are_refused(line, error, folder):
    refusal_of(parse_line(line, folder), error)


@pytest.mark.parametrize("line", ACCEPTED)
def test_flags_that_go_together_are_accepted(line, folder):
    check_paths(parse_line(line, folder))


@pytest.mark.parametrize("path", ["", " "])
@pytest.mark.parametrize("flag", KINDS)
def test_an_empty_path_is_refused(flag, path):
    assert "empty" in refusal_of({flag: path})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_write_protected_path_is_refused():
    os.chmod("vocab.txt", 0o444)
    os.chmod("data", 0o555)
    try:
        refusal_of({"output_file": "vocab.txt"}, PermissionError)
        refusal_of({"output_file": "data/new"}, PermissionError)
    finally:
        os.chmod("data", 0o755)
