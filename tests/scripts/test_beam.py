import hashlib
import subprocess
import sys

import pytest

from tests import golden

pytest.importorskip("apache_beam", reason="Apache Beam is not installed")

SAMPLES = golden.ROOT / "tests/testdata/golden"


def make(folder, *arguments):
    done = subprocess.run(
        [
            sys.executable,
            golden.ROOT / "create_pretraining_data.py",
            f"--input_file={SAMPLES}/pretraining_data/corpus/*.txt",
            f"--vocab_file={SAMPLES}/vocab/uncased.txt",
            f"--output_file={folder}/out",
            "--num_shards=3",
            *arguments,
        ],
        capture_output=True,
        text=True,
    )
    digests = [
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("out-*"))
    ]
    return done, digests


def test_beam_makes_the_same_bytes(tmp_path):
    done, digests = make(
        tmp_path / "beam",
        "--pipeline=beam",
        "--runner=DirectRunner",
        "--direct_num_workers=2",
    )
    assert done.returncode == 0, done.stderr
    assert len(digests) == 3
    assert digests == make(tmp_path / "local")[1]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--dupe_facter=3", "unknown arguments"),
        ("--segmenter=no_such_module:cut", "--segmenter=no_such_module"),
    ],
)
def test_errors_are_one_line(tmp_path, argument, message):
    done, digests = make(tmp_path, "--pipeline=beam", argument)
    assert done.returncode == 1 and digests == []
    (error,) = [x for x in done.stderr.splitlines() if x.startswith("error: ")]
    assert message in error
