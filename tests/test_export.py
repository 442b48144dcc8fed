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

# What a server does, in a process that has TensorFlow but nothing of ours.
SERVE = """
import sys
import numpy as np
import tensorflow as tf
model, batches, results = sys.argv[1:]
serve = tf.saved_model.load(model).signatures["serving_default"]
batches = np.load(batches)
found = {}
for name in sorted({key.split("/")[0] for key in batches}):
    outputs = serve(
        **{
            key.split("/")[1]: tf.constant(batches[key])
            for key in batches
            if key.startswith(name + "/")
        }
    )
    found |= {f"{name}/{key}": value.numpy() for key, value in outputs.items()}
assert not {"modeling", "data", "training"} & set(sys.modules)
np.savez(results, **found)
"""


def serve(model, folder, batches):
    np.savez(
        folder / "batches.npz",
        **{
            f"{b}/{k}": v
            for b, batch in batches.items()
            for k, v in batch.items()
        },
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", SERVE, model, "batches.npz", "results.npz"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return np.load(folder / "results.npz")


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


def test_serves_what_the_script_predicts(tmp_path, classified):
    folder, _ = classified
    with open(scripts.SAMPLES / "glue/test.tsv", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [row[3:5] for row in rows[1:]]
    # Those that the script did not have to cut to 32 WordPieces.
    whole = [
        i for i, p in enumerate(pairs) if tokenize([p])["input_ids"].size <= 32
    ]
    assert len(whole) > 20
    batches = {
        "padded": tokenize([pairs[i] for i in whole], 32),
        "short": tokenize([pairs[i] for i in whole[:3]]),
    }
    assert batches["short"]["input_ids"].shape[1] < 32
    found = serve(folder / "export", tmp_path, batches)
    expected = np.loadtxt(folder / "run/test_results.tsv", delimiter="\t")[
        whole
    ]
    assert set(found) == {"padded/probabilities", "short/probabilities"}
    np.testing.assert_allclose(
        found["padded/probabilities"], expected, rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        found["short/probabilities"], expected[:3], rtol=0, atol=1e-5
    )


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
