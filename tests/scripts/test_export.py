import csv
import json
import os
import resource
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from data.text import tokenization
from files import export_folders, manifests
from serving import export
from tests import script_runner

PAIR = ("Who sang in Ostrel?", "On Thursday the singers sang for hours.")


def serve(requests):
    """Gives batches to SavedModels.

    Args:
        requests: list of (path of a SavedModel, list of dicts of arrays).

    Returns:
        for each of them, the list of its outputs, dicts of arrays.
    """
    found = []
    for path, batches in requests:
        # Keeps the variables alive.
        model = tf.saved_model.load(path)
        function = model.signatures["serving_default"]
        found.append([])
        for batch in batches:
            inputs = {name: tf.constant(v) for name, v in batch.items()}
            outputs = function(**inputs)
            found[-1].append({k: v.numpy() for k, v in outputs.items()})
    return found


def tokenize(pairs, max_seq_length=None):
    """Returns the three inputs of pairs of texts, as long as the longest."""
    tokenizer = tokenization.FullTokenizer(
        str(script_runner.SAMPLES / "vocab.txt")
    )
    rows = []
    for first, second in pairs:
        parts = [
            ["[CLS]", *tokenizer.tokenize(first), "[SEP]"],
            [*tokenizer.tokenize(second), "[SEP]"],
        ]
        ids = tokenizer.convert_tokens_to_ids(parts[0] + parts[1])
        rows.append((ids, [0] * len(parts[0]) + [1] * len(parts[1])))
    length = max_seq_length or max(len(ids) for ids, _ in rows)
    names = ("input_ids", "input_mask", "segment_ids")
    inputs = {name: np.zeros([len(rows), length], "int32") for name in names}
    for row, (ids, segments) in enumerate(rows):
        inputs["input_ids"][row, : len(ids)] = ids
        inputs["input_mask"][row, : len(ids)] = 1
        inputs["segment_ids"][row, : len(ids)] = segments
    return inputs


@pytest.fixture(scope="module")
def exported(tmp_path_factory, tiny, model_flags):
    """A folder with an export of each script that has not trained."""
    folder = tmp_path_factory.mktemp("exports")
    (folder / "lines.txt").write_text(f"{PAIR[0]} ||| {PAIR[1]}\n")
    no_vocab = {k: v for k, v in model_flags.items() if k != "vocab_file"}
    for done in script_runner.run_all(
        [
            (
                "extract_features.py",
                folder,
                model_flags
                | {
                    "input_file": "lines.txt",
                    "output_file": "features.jsonl",
                    "layers": "-1",
                    "max_seq_length": 40,
                    "export_dir": "encoder",
                    "export_version": 12,
                },
            ),
            (
                "run_pretraining.py",
                folder,
                no_vocab
                | {
                    "input_file": tiny / "train.tfrecord",
                    "output_dir": "pretraining",
                    "max_seq_length": 32,
                    "max_predictions_per_seq": 5,
                    "export_dir": "pretrainer",
                    "export_version": 1,
                },
            ),
            (
                "run_squad.py",
                folder,
                model_flags
                | {
                    "output_dir": "squad",
                    "max_seq_length": 64,
                    "max_query_length": 24,
                    "export_dir": "span_labeler",
                },
            ),
        ]
    ):
        done.check()
    return folder


def test_serves_what_the_script_predicts(classified, exported):
    folder, _ = classified
    with open(
        script_runner.SAMPLES / "glue/test.tsv", encoding="utf-8"
    ) as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [row[3:5] for row in rows[1:]]
    # Those that the script did not have to cut to 32 WordPieces.
    whole = [
        index
        for index, pair in enumerate(pairs)
        if tokenize([pair])["input_ids"].size <= 32
    ]
    assert len(whole) > 20
    padded = tokenize([pairs[index] for index in whole], 32)
    short = tokenize([pairs[index] for index in whole[:3]])
    assert short["input_ids"].shape[1] < 32
    one = tokenize([PAIR])
    classifier, encoder, pretrainer, span_labeler = serve(
        [
            (folder / "export", [padded, short]),
            (exported / "encoder/12", [one]),
            (exported / "pretrainer/1", [one]),
            (exported / "span_labeler", [one, tokenize([PAIR] * 2, 60)]),
        ],
    )
    expected = np.loadtxt(folder / "run/test_results.tsv", delimiter="\t")
    expected = expected[whole]
    assert list(classifier[0]) == list(classifier[1]) == ["probabilities"]
    assert_close(classifier[0]["probabilities"], expected)
    assert_close(classifier[1]["probabilities"], expected[:3])

    line = json.loads((exported / "features.jsonl").read_text())
    values = [token["layers"][0]["values"] for token in line["features"]]
    assert_close(encoder[0]["sequence_output"], [values])
    assert encoder[0]["pooled_output"].shape == (1, 32)

    length = one["input_ids"].shape[1]
    masked, following = (
        pretrainer[0][f"{name}_probabilities"]
        for name in ("masked_lm", "next_sentence")
    )
    assert masked.shape == (1, length, 1600) and following.shape == (1, 2)
    assert_close(masked.sum(-1), np.ones([1, length]))
    assert_close(following.sum(-1), [1])

    for name in ("start_logits", "end_logits"):
        assert span_labeler[1][name].shape == (2, 60)
        assert_close(
            span_labeler[1][name][:, :length],
            np.repeat(span_labeler[0][name], 2, axis=0),
        )


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_versions_are_numbered_folders_and_nothing_else(exported):
    assert os.listdir(exported / "encoder") == ["12"]
    assert os.listdir(exported / "pretrainer") == ["1"]


def test_vocabulary_and_labels_go_with_it(tiny, classified):
    folder, _ = classified
    extra = folder / "export" / "assets.extra"
    vocab = script_runner.SAMPLES / "vocab.txt"
    assert (extra / "vocab.txt").read_bytes() == vocab.read_bytes()
    assert (extra / "labels.txt").read_text() == "0\n1\n"
    config = json.loads((extra / "bert_config.json").read_text())
    given = json.loads((tiny / "bert_config.json").read_text())
    assert config.items() >= given.items()
    assert not (folder / "export.unfinished").exists()


def endpoints(function):
    return {"serve": (function, [tf.TensorSpec([None], tf.float32)])}


@pytest.fixture
def write():
    """Exports a model that doubles numbers, or another function."""
    layer = keras.layers.Dense(1)
    layer.build([None, 1])

    def double(value):
        return {"out": value * 2}

    def write(path, function=double, files=()):
        export.export_saved_model(path, layer, endpoints(function), files)

    return write


def contents(folder):
    """Returns {path: bytes or None} of everything in a folder."""
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_a_failed_export_leaves_the_earlier_one(tmp_path, write):
    path = tmp_path / "made" / "export"

    def fail(value):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        write(path, fail)
    with pytest.raises(ValueError, match="surrogate"):
        write(path, files={"labels.txt": "\ud800"})
    assert list(path.parent.iterdir()) == []
    write(path, files={"labels.txt": "a\n"})
    before = contents(path)
    with pytest.raises(ValueError, match="surrogate"):
        write(path, files={"labels.txt": "\ud800"})
    assert contents(path) == before
    # The whole of it is replaced, and nothing is left beside.
    export_folders.check(path)
    write(path)
    assert not (path / "assets.extra" / "labels.txt").exists()
    assert list(path.parent.iterdir()) == [path]


def test_a_limit_on_the_size_of_files_leaves_the_earlier_export(
    tmp_path, write
):
    path = tmp_path / "export"
    write(path)
    before = contents(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="cannot be written.*File too large"):
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(path) == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "name", ["notes.txt", "assets.extra/notes.txt", "variables/mine/", "link"]
)
def test_an_export_with_a_users_file_in_it_is_not_replaced(
    tmp_path, write, name
):
    path = tmp_path / "export"
    write(path)
    if name == "link":
        (path / name).symlink_to(tmp_path)
    elif name.endswith("/"):
        (path / name).mkdir()
    else:
        (path / name).write_text("mine")
    before = contents(path)
    for refused in (lambda: export_folders.check(path), lambda: write(path)):
        with pytest.raises(ValueError, match="export_dir.*which is not a part"):
            refused()
    assert contents(path) == before
    assert list(tmp_path.iterdir()) == [path]


def test_only_an_export_is_replaced(tmp_path, write):
    made, plain, linked, empty = (
        tmp_path / name for name in ("made", "plain", "linked", "empty")
    )
    write(made)
    # As from before exports had a manifest, or from another program.
    (made / manifests.EXPORT).unlink()
    plain.mkdir()
    (plain / "saved_model.pb").write_text("x")
    for path in (made, plain, tmp_path):
        with pytest.raises(ValueError, match="export_dir.*is not an export"):
            export_folders.check(path)
    linked.symlink_to(made)
    for path in (linked, plain / "saved_model.pb"):
        with pytest.raises(ValueError, match="is not a folder"):
            export_folders.check(path)
    (plain / manifests.EXPORT).write_text("[]")
    with pytest.raises(ValueError, match=manifests.EXPORT):
        export_folders.check(plain)
    (plain / manifests.EXPORT).write_text('{"files": 5}')
    with pytest.raises(ValueError, match="is not a part"):
        export_folders.check(plain)
    empty.mkdir()
    write(empty)
    assert (empty / "saved_model.pb").is_file()


@pytest.mark.parametrize("name", ["export.unfinished", "export.replaced"])
def test_a_users_folder_next_to_an_export_is_left_alone(tmp_path, write, name):
    path = tmp_path / "export"
    (tmp_path / name).mkdir()
    (tmp_path / name / "notes.txt").write_text("mine")
    for refused in (lambda: export_folders.check(path), lambda: write(path)):
        with pytest.raises(ValueError, match=f"temporary name .*{name}"):
            refused()
    assert contents(tmp_path / name) == {Path("notes.txt"): b"mine"}


@pytest.mark.parametrize("name", ["export.unfinished", "export.replaced"])
def test_an_export_moved_aside_with_a_users_file_is_left_alone(
    tmp_path, write, name
):
    path, aside = tmp_path / "export", tmp_path / name
    write(path)
    path.rename(aside)
    (aside / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=f"temporary name .*{name}"):
        write(path)
    assert (aside / "notes.txt").read_text() == "mine"


def test_what_a_kill_left_is_cleared_away(tmp_path, write):
    path, replaced, unfinished = (
        tmp_path / f"export{end}" for end in ("", ".replaced", ".unfinished")
    )
    write(path, files={"labels.txt": "earlier"})
    # Killed between the two renamings: the earlier export comes back, even
    # where the next one fails.
    write(unfinished)
    path.rename(replaced)
    with pytest.raises(ValueError, match="surrogate"):
        write(path, files={"labels.txt": "\ud800"})
    assert (path / "assets.extra" / "labels.txt").read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]
    # Killed while it was written, or while the earlier one was removed.
    unfinished.mkdir()
    (unfinished / manifests.EXPORT).write_text('{"files": []}')
    (unfinished / "variables").mkdir()
    replaced.mkdir()
    write(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_export_leaves_nothing_under_its_name(
    tmp_path, classified, model_flags
):
    folder, _ = classified
    done = script_runner.run(
        "run_classifier.py",
        tmp_path,
        kill_when=(tmp_path / "export.unfinished").exists,
        **model_flags | {"init_checkpoint": folder / "run/model.ckpt-8"},
        task_name="mrpc",
        data_dir=script_runner.SAMPLES / "glue",
        output_dir="run",
        max_seq_length=32,
        export_dir="export",
    )
    assert done.status < 0
    assert not (tmp_path / "export").exists()
