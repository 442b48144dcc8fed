"""Paths in flags: what is refused, by itself or with the path of another."""

import os

import pytest

from files import manifests, path_checks, paths, run_files
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
FILES = """
    corpus.txt vocab.txt data/train.tsv
    model/bert_model.ckpt.index model/bert_model.ckpt.data-00000-of-00001
    model/vocab.txt both/bert_model.ckpt both/bert_model.ckpt.index
    run/model.ckpt-5.index run/predictions.json run/train.json run/best/file
    wiki-00000-of-00008 wiki-00000-of-00008.partial-77 wiki-notes-of-00008
    wiki.manifest.json wiki.lock wiki.work/text
"""
# The name of a link -> its target.
LINKS = {
    "linked.txt": "corpus.txt",
    "nothing": "gone",
    "linked_data": "data",
    "answers.json": "run/predictions.json",
    "books": "other/books",
    "books-00000-of-00002": "corpus.txt",
    "data/link": "../fifo",
    "both/model.ckpt-0.index": "bert_model.ckpt.index",
    "links/eval_results.txt": "../corpus.txt",
    "links/model.safetensors": "../corpus.txt",
    "links/notes.txt": "../vocab.txt",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
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


def check(**values):
    flags = [paths.PathFlag(k, v, KINDS[k]) for k, v in values.items()]
    path_checks.check_paths(flags)


def refused(**values):
    """Returns the one line that says why paths are refused."""
    with pytest.raises((ValueError, OSError)) as caught:
        check(**values)
    line = str(caught.value)
    assert "\n" not in line
    line.encode("utf-8")
    assert line.startswith(tuple(f"--{flag}=" for flag in values))
    return line


# Rows with an arrow are refused; without one, the flags go together.
TABLE = """
    output_file=data ->
    output_dir=corpus.txt ->
    output_dir=nothing ->
    export_weights=nothing ->
    export_dir=linked_data/ ->
    output_file=corpus.txt/new ->
    export_dir=corpus.txt/a/b ->
    # Their files would land in a local folder with the name `gs:`.
    output_dir=gs://bucket/run ->
    export_dir=gs://bucket/run ->
    output_files=a,,b ->
    # A list of inputs may end in a comma, as shells make them.
    input_file=corpus.txt,

    input_file=*.txt vocab_file=vocab.txt output_file=data/new
    # A file that was written before is replaced, as in the original.
    input_file=corpus.txt output_file=vocab.txt
    # An input that is not there has nothing to lose.
    vocab_file=absent output_file=absent

    # A model's folder, and a checkpoint, which is all its files.
    init_checkpoint=model output_file=model/vocab.txt ->
    init_checkpoint=model output_file=model/new/features ->
    init_checkpoint=MODEL output_file=MODEL.data-00000-of-00001 ->
    init_checkpoint=MODEL export_weights=MODEL ->
    init_checkpoint=MODEL export_weights=model ->
    init_checkpoint=MODEL output_file=model/features
    init_checkpoint=MODEL export_weights=new/new.ckpt
    vocab_file=model/vocab.txt export_weights=model ->
    init_checkpoint=BOTH output_file=BOTH.index ->

    output_dir=run export_dir=run/export ->
    init_checkpoint=run export_dir=run/export ->
    export_weights=run export_dir=run/export ->
    # The user's own tables and everything else in the current folder.
    data_dir=. output_dir=output/run export_dir=output/export

    # Going on with a run, from its own checkpoints too.
    output_dir=run init_checkpoint=run/best
    output_dir=run init_checkpoint=run
    # A folder for everything: only what the run writes must not be there.
    output_dir=. vocab_file=vocab.txt input_file=corpus.txt
    output_dir=run train_file=run/train.json data_dir=run/best
    output_dir=run output_file=run/new
    output_dir=run train_file=run/predictions.json ->
    output_dir=run output_file=run/model.ckpt-7.index ->
    output_dir=data data_dir=linked_data ->

    output_dir=new export_weights=./new ->
    output_files=a,./a ->
    output_file=a output_dir=a/run ->
    output_files=a,b output_dir=run export_weights=run/weights
    output_dir=run export_weights=run/weights/a.ckpt
    output_dir=run export_weights=run/a.ckpt ->
    output_dir=run export_weights=run/best ->

    # Remote paths are compared as text.
    input_file=gs://b/*.txt output_file=gs://b/out
    export_weights=gs://b/new/ data_dir=gs://b/new ->
    export_weights=gs://b/new vocab_file=gs://b/new/vocab.txt ->
    # Local files with a scheme.
    input_file=URL output_file=corpus.txt ->
    output_file=URL ->
    output_dir=URL ->

    # Inputs that are named like the parts of an output.
    input_file=wiki-0* output_files=a,./wiki ->
    input_file=wiki.manifest.json output_files=a,./wiki ->
    input_file=wiki.lock output_files=a,./wiki ->
    input_file=wiki.work/text output_files=a,./wiki ->
    input_file=wiki-notes* output_files=wiki
    # Numbers are added to the name of a link, not of what it leads to.
    input_file=books-0* output_files=books ->

    # Inputs that are links to what a run writes, or in its folder.
    train_file=answers.json output_dir=run ->
    input_file=links/eval_results.txt output_dir=links ->
    init_checkpoint=./links/model.safetensors export_weights=links ->
    # Results are written through links, to their targets.
    input_file=corpus.txt output_dir=links ->
    vocab_file=vocab.txt output_dir=links
    init_checkpoint=BOTH output_dir=both

    # The reader of a pipe would wait for ever for its own process.
    input_file=fifo output_file=./fifo ->
    input_file=data/link output_file=./fifo ->
    output_files=fifo,data/link ->
    input_file=fifo output_file=data/new
    input_file=corpus.txt output_file=fifo
"""


@pytest.mark.parametrize(
    "line", [x.strip() for x in TABLE.splitlines() if "=" in x]
)
def test_flags_that_go_together_and_others(line, folder):
    line = line.replace("MODEL", "model/bert_model.ckpt")
    line = line.replace("BOTH", "both/bert_model.ckpt")
    line = line.replace("URL", f"file://{folder}/corpus.txt")
    flags = line.removesuffix("->")
    values = dict(flag.split("=") for flag in flags.split())
    if flags != line:
        refused(**values)
    else:
        check(**values)


@pytest.mark.parametrize("flag", KINDS)
def test_text_that_is_no_path(flag):
    for value in ("", " ", "\n", "\u00a0", "a\nb", "a\0b", "caf\udce9"):
        assert refused(**{flag: value}).isprintable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_is_write_protected():
    os.chmod("vocab.txt", 0o444)
    os.chmod("data", 0o555)
    try:
        refused(output_file="vocab.txt")
        for flag in ("output_file", "output_dir", "export_dir"):
            refused(**{flag: "data/new"})
    finally:
        os.chmod("data", 0o755)


def test_a_model_that_is_not_ours_is_not_replaced(folder):
    for name in ("model.safetensors", "bert_config.json", "labels.txt"):
        target = folder / f"with_{name}"
        target.mkdir()
        (target / name).write_text("theirs")
        assert name in refused(export_weights=target.name)
        manifests.add(target, [name])
        check(export_weights=target.name)
    refused(export_weights="model/bert_model.ckpt")
    # What is neither replaced nor a part of a model may stay.
    (folder / "mixed").mkdir()
    (folder / "mixed" / "README.md").write_text("theirs")
    check(export_weights="mixed")
    check(export_weights="mixed/own.ckpt")
    # One description cannot be of two models.
    (folder / "mixed" / "vocab.txt").write_text("theirs")
    assert "vocab.txt" in refused(export_weights="mixed/own.ckpt")


@pytest.mark.parametrize(
    "path", ["corpus.txt", "./data/../corpus.txt", "linked.txt", "hard.txt"]
)
def test_an_output_that_is_an_input(path, folder):
    for output in ("output_file", "output_files"):
        refused(input_file="vocab.txt,corpus.txt", **{output: path})
        refused(vocab_file=str(folder / path), **{output: "corpus.txt"})
    refused(input_file="*.txt", output_file=path)


@pytest.mark.parametrize(
    "other",
    [
        {"output_dir": "x/run"},
        {"output_dir": "run"},
        {"init_checkpoint": "model"},
        {"init_checkpoint": "model/bert_model.ckpt"},
        {"data_dir": "linked_data"},
        {"train_file": "data/train.tsv"},
        {"input_file": "data/*.tsv"},
        {"output_file": "x/features"},
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


def test_a_terminal_is_read_and_written():
    """As /dev/stdin and /dev/stdout in an interactive shell."""
    terminal, other = os.openpty()
    path = os.ttyname(other)
    check(input_file=path, output_file=path)
    os.close(terminal)
    os.close(other)


def test_outputs_and_their_locks():
    for kind, value, expected in [
        (Kind.RUN_FOLDER, "a/run/", "a/run/.lock"),
        (Kind.MODEL_OUTPUT, "a", "a/.lock"),
        (Kind.MODEL_OUTPUT, "a.ckpt", "a.ckpt.lock"),
        (Kind.EXPORT_FOLDER, "a/export/", "a/export.lock"),
        (Kind.OUTPUT_FILE, "a", None),
        (Kind.MODEL, "a", None),
        (Kind.RUN_FOLDER, "gs://a/run", None),
    ]:
        flag = paths.PathFlag("flag", value, kind)
        assert path_checks.lock_path(flag) == expected
