"""Processes of their own, which share nothing, take the same steps.

Other tests fork theirs from one, and have small models, whose graphs
TensorFlow rewrites less.
"""

import json
import subprocess
import sys

import pytest

from tests import script_runner
from tests.golden import ROOT

CONFIG = {
    "vocab_size": 8192,
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 128,
}


@pytest.mark.soak
def test_training_has_the_same_bits(tmp_path):
    (tmp_path / "bert_config.json").write_text(json.dumps(CONFIG))
    lengths = {"max_seq_length": 128, "max_predictions_per_seq": 26}
    script_runner.create_records(
        tmp_path, "train.tfrecord", dupe_factor=10, **lengths
    )
    found = []
    for number in range(5):
        done = subprocess.run(
            [
                *(sys.executable, ROOT / "run_pretraining.py"),
                *("--input_file=train.tfrecord", "--do_train"),
                *("--bert_config_file=bert_config.json", "--summary_steps=1"),
                *(f"--output_dir={number}", "--num_train_steps=3"),
                *("--train_batch_size=64", "--num_warmup_steps=1"),
                *(f"--{name}={value}" for name, value in lengths.items()),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / str(number) / "history.jsonl").read_text()
        found.append(
            [
                (line["metrics"]["loss"], line["metrics"]["gradient_norm"])
                for line in map(json.loads, lines.splitlines())
                if line["kind"] == "train"
            ]
        )
    assert len(found[0]) == 3
    assert all(steps == found[0] for steps in found), found
