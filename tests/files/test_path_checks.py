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


# Flags -> what the refusal says; without an arrow, they go together.
TABLE = """
    output_file=data -> data is a folder; use the path of a file
    output_file=new/ -> new/ is a folder
    output_files=a,data -> data is a folder
    vocab_file=data -> data is a folder
    input_file=corpus.txt,data -> data is a folder
    data_dir=corpus.txt -> is a file; use the path of a folder
    output_dir=corpus.txt -> is a file
    export_weights=corpus.txt -> is a file
    export_dir=corpus.txt -> is a file
    output_dir=nothing -> a symbolic link to gone, which does
    export_weights=nothing -> a symbolic link to gone
    export_dir=linked_data -> is a symbolic link
    export_dir=nothing -> is a symbolic link
    export_dir=linked_data/ -> is a symbolic link
    output_file=corpus.txt/new -> corpus.txt is not a folder
    output_dir=corpus.txt/new -> corpus.txt is not a folder
    export_dir=corpus.txt/a/b -> corpus.txt is not a folder
    export_weights=corpus.txt/a.ckpt -> is not a folder
    # Their files would land in a local folder with the name `gs:`.
    output_dir=gs://bucket/run -> is a remote path
    export_dir=gs://bucket/run -> is a remote path
    output_files=a,,b -> one of the names is empty
    output_files=a, -> one of the names is empty
    # A list of inputs may end in a comma, as shells make them.
    input_file=corpus.txt,

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
    init_checkpoint=BOTH output_file=BOTH.index -> are the same

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
    output_dir=run export_weights=run/best/a.ckpt -> the run writes

    # Remote paths are compared as text.
    input_file=gs://b/*.txt output_file=gs://b/out
    export_weights=gs://b/new init_checkpoint=gs://b/new/a/b
    export_weights=gs://b/new/ data_dir=gs://b/new -> are the same
    export_weights=gs://b/new vocab_file=gs://b/new/vocab.txt -> could overwrite
    # Keys of an object store, not folders: an empty part or a dot counts.
    export_weights=gs://b//new data_dir=gs://b/new
    export_weights=gs://b/./new data_dir=gs://b/new
    # Local files with a scheme.
    input_file=URL output_file=vocab.new
    input_file=URL output_file=corpus.txt -> are the same
    output_file=URL -> without file://
    output_files=URL -> without file://
    output_dir=URL -> without file://
    export_dir=URL -> without file://

    # Inputs that are named like the parts of an output.
    input_file=wiki-0* output_files=a,./wiki -> like a shard of --output_files=a
    input_file=wiki.manifest.json output_files=a,./wiki -> is named like a shard
    input_file=wiki.lock output_files=a,./wiki -> is named like a shard
    input_file=wiki.work/text output_files=a,./wiki -> is named like a shard
    input_file=wiki-00000-of-00008.partial-77 output_files=wiki -> a shard of
    input_file=wiki-notes* output_files=wiki
    input_file=wiki-0* output_files=wiki-0 output_file=wiki
    # Numbers are added to the name of a link, not of what it leads to.
    input_file=corpus.txt output_files=books -> a shard of
    input_file=books-0* output_files=books -> a shard of

    # Inputs that are links to what a run writes, or in its folder.
    train_file=answers.json output_dir=run -> the run writes a file of that name
    input_file=links/eval_results.txt output_dir=links -> the run writes a file
    init_checkpoint=links/model.safetensors export_weights=links -> overwrite
    init_checkpoint=./links/model.safetensors export_weights=links -> overwrite
    input_file=links/notes.txt output_dir=run export_weights=model/new
    # Results are written through links, to their targets.
    input_file=corpus.txt output_dir=links -> (links/eval_results.txt) and --inp
    vocab_file=vocab.txt output_dir=links
    init_checkpoint=BOTH output_dir=both

    # The reader of a pipe would wait for ever for its own process.
    input_file=fifo output_file=./fifo -> are the same
    input_file=data/link output_file=./fifo -> are the same
    output_files=fifo,data/link -> is named twice
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
    flags, _, message = line.partition(" -> ")
    values = dict(flag.split("=") for flag in flags.split())
    if message:
        assert message in refused(**values)
    else:
        check(**values)


@pytest.mark.parametrize("flag", KINDS)
def test_text_that_is_no_path(flag):
    for value in ("", " ", "\n", "\t \r", "\u00a0", " , \n"):
        if flag in ("input_file", "output_files") and "," in value:
            continue
        line = refused(**{flag: value})
        assert line.startswith(f"--{flag}= is empty")
        assert "shell variable" in line
    for char in "\0\n\r\t\x1b\x7f\u2028":
        line = refused(**{flag: f"a{char}b"})
        assert "control character" in line and line.isprintable()
    assert "is not UTF-8" in refused(**{flag: "caf\udce9"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_is_write_protected():
    os.chmod("vocab.txt", 0o444)
    os.chmod("data", 0o555)
    try:
        line = refused(output_file="vocab.txt")
        assert "vocab.txt is write-protected" in line
        for flag in ("output_file", "output_dir", "export_dir"):
            line = refused(**{flag: "data/new"})
            assert line.endswith("data is write-protected; use another path")
    finally:
        os.chmod("data", 0o755)


def test_a_model_that_is_not_ours_is_not_replaced(folder):
    for name in ("model.safetensors", "bert_config.json", "labels.txt"):
        target = folder / f"with_{name}"
        target.mkdir()
        (target / name).write_text("theirs")
        line = refused(export_weights=target.name)
        assert f"contains {name}. No bert_weights.json in" in line
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
    assert "mixed contains vocab.txt. No bert_weights.json" in line


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
