import os
import subprocess
import sys

import numpy as np
import pytest

from data import records, tfrecords
from tests import golden

SCRIPT = golden.ROOT / "create_pretraining_data.py"
CORPUS = golden.ROOT / "tests/testdata/golden/pretraining_data/corpus"
VOCAB = golden.ROOT / "tests/testdata/golden/vocab/uncased.txt"


def run(cwd, **flags):
    return subprocess.run(
        [sys.executable, SCRIPT]
        + [f"--{name}={value}" for name, value in flags.items()],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


@pytest.mark.parametrize("case", golden.cases("pretraining_data"))
def test_golden_records(case, tmp_path):
    folder = case.pop("folder")
    recorded = np.load(folder / case.pop("instances"))
    case.pop("name")
    case["input_file"] = ",".join(
        str(folder / name) for name in case["input_file"]
    )
    case["vocab_file"] = folder / case["vocab_file"]
    output_files = [str(tmp_path / f"{name}.tfrecord") for name in "ab"]
    done = run(tmp_path, **case, output_file=",".join(output_files))
    assert done.returncode == 0, done.stderr
    num_instances = len(recorded["input_ids"])
    assert f"{num_instances:,} instances from" in done.stdout
    spec = tfrecords.pretraining_features(
        case["max_seq_length"], case["max_predictions_per_seq"]
    )
    for index, path in enumerate(output_files):
        read = tfrecords.decode(list(records.read_records(path)), spec)
        assert set(read) == set(recorded)
        for name in recorded:
            # Record i is in file i mod 2.
            np.testing.assert_array_equal(read[name], recorded[name][index::2])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"input_file": "nothing*.txt"}, "--input_file: no file matches"),
        ({"input_file": "empty.txt"}, "no text in the input: empty.txt"),
        ({"vocab_file": "none.txt"}, "none.txt"),
        ({"vocab_file": "words.txt"}, "words.txt: no [CLS], [SEP], [MASK]"),
        ({"output_file": "empty.txt/out"}, "empty.txt"),
        ({"output_file": "a,a"}, "named twice"),
    ],
)
def test_bad_input_is_one_line(tmp_path, flags, message):
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "words.txt").write_text("a\nb\n")
    given = {
        "input_file": CORPUS / "*.txt",
        "vocab_file": VOCAB,
        "output_file": "out.tfrecord",
        **flags,
    }
    done = run(tmp_path, **given)
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    assert len(errors) == 1 and message in errors[0], done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["empty.txt", "words.txt"]


def test_flags_out_of_range_are_errors(tmp_path):
    done = run(tmp_path, max_seq_length=4, input_file="a", output_file="b")
    assert done.returncode != 0
    assert "max_seq_length" in done.stderr
