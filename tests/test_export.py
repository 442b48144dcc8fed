import csv
import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from data import tokenization
from tests import scripts
from training import export

PAIR = ("Who sang in Ostrel?", "On Thursday the singers sang for hours.")

# What a server does, in a process that has TensorFlow but nothing of ours.
SERVE = """
import json
import sys
import numpy as np
import tensorflow as tf
for request in json.load(sys.stdin):
    serve = tf.saved_model.load(request["model"]).signatures["serving_default"]
    for batch, result in request["batches"]:
        inputs = {k: tf.constant(v) for k, v in np.load(batch).items()}
        np.savez(result, **{k: v.numpy() for k, v in serve(**inputs).items()})
assert not {"modeling", "data", "training"} & set(sys.modules)
"""


def serve(folder, requests):
    """Gives batches to SavedModels, all of them in one process.

    Args:
        folder: where the process runs.
        requests: list of (path of a SavedModel, list of dicts of arrays).

    Returns:
        for each of them, the list of its outputs, dicts of arrays.
    """
    told, results = [], []
    for number, (model, batches) in enumerate(requests):
        names = [f"{number}_{i}" for i in range(len(batches))]
        for name, batch in zip(names, batches, strict=True):
            np.savez(folder / f"{name}.npz", **batch)
        pairs = [[f"{name}.npz", f"{name}_out.npz"] for name in names]
        told.append({"model": str(model), "batches": pairs})
        results.append([folder / result for _, result in pairs])
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", SERVE],
        input=json.dumps(told),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [[dict(np.load(path)) for path in paths] for paths in results]


def tokenize(pairs, max_seq_length=None):
    """Returns the three inputs of pairs of texts, as long as the longest."""
    tokenizer = tokenization.FullTokenizer(str(scripts.SAMPLES / "vocab.txt"))
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
    for done in scripts.run_all(
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


def test_serves_what_the_script_predicts(tmp_path, classified, exported):
    folder, _ = classified
    with open(scripts.SAMPLES / "glue/test.tsv", encoding="utf-8") as file:
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
        tmp_path,
        [
            (folder / "export", [padded, short]),
            (exported / "encoder", [one]),
            (exported / "pretrainer", [one]),
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


def test_vocabulary_and_labels_go_with_it(tiny, classified):
    folder, _ = classified
    extra = folder / "export" / "assets.extra"
    vocab = scripts.SAMPLES / "vocab.txt"
    assert (extra / "vocab.txt").read_bytes() == vocab.read_bytes()
    assert (extra / "labels.txt").read_text() == "0\n1\n"
    config = json.loads((extra / "bert_config.json").read_text())
    given = json.loads((tiny / "bert_config.json").read_text())
    assert config.items() >= given.items()
    assert not (folder / "export.unfinished").exists()


def endpoints(function):
    return {"serve": (function, [tf.TensorSpec([None], tf.float32)])}


def test_a_failed_export_leaves_the_earlier_one(tmp_path):
    layer = keras.layers.Dense(1)
    layer.build([None, 1])
    path = tmp_path / "made" / "export"

    def write(function, files=()):
        export.export_saved_model(path, layer, endpoints(function), files)

    def fail(value):
        raise ValueError("no")

    def double(value):
        return {"out": value * 2}

    with pytest.raises(ValueError, match="no"):
        write(fail)
    with pytest.raises(FileNotFoundError):
        write(double, {"vocab.txt": tmp_path / "none.txt"})
    assert list(path.parent.iterdir()) == []
    write(double, {"labels.txt": "a\n"})
    before = sorted(path.rglob("*"))
    with pytest.raises(FileNotFoundError):
        write(double, {"vocab.txt": tmp_path / "none.txt"})
    assert sorted(path.rglob("*")) == before
    # The whole of it is replaced, and only an export is.
    export.check_export_dir(path)
    write(double)
    assert not (path / "assets.extra" / "labels.txt").exists()
    with pytest.raises(ValueError, match="export_dir.*is not a SavedModel"):
        export.check_export_dir(path.parent)


def test_a_killed_export_leaves_nothing_under_its_name(
    tmp_path, classified, model_flags
):
    folder, _ = classified
    done = scripts.run(
        "run_classifier.py",
        tmp_path,
        kill_when=(tmp_path / "export.unfinished").exists,
        **model_flags | {"init_checkpoint": folder / "run/model.ckpt-8"},
        task_name="mrpc",
        data_dir=scripts.SAMPLES / "glue",
        output_dir="run",
        max_seq_length=32,
        export_dir="export",
    )
    assert done.status < 0
    assert not (tmp_path / "export").exists()
