"""The sample data is what its README says and what the demo needs."""

import re
import shutil
import subprocess
import sys

import pytest

import serving
from tests.golden import ROOT

SAMPLES = ROOT / "examples/samples"
# Texts of the page and the README.
EXAMPLES = {
    "text": "[MASK] light of the harbour can be seen when the air is clear "
    "[MASK]",
    "text_a": "The market in Ostrel is held on Sunday.",
    "text_b": "Sunday is market day in Ostrel.",
    "question": "What does the Old Lamp catch?",
    "context": "The Old Lamp is a small boat from Ivelle. She is used to catch "
    "eels. Her owner is a retired teacher.",
}


@pytest.mark.slow
def test_the_demo_trains_a_model_that_answers(tmp_path):
    # In a copy, since it writes beside its own files.
    folder = tmp_path / "project"
    folder.mkdir()
    for path in ROOT.glob("*.py"):
        shutil.copy(path, folder)
    names = "data examples files modeling serving tools training"
    for name in names.split():
        shutil.copytree(ROOT / name, folder / name)

    done = subprocess.run(
        [sys.executable, folder / "examples/demo.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n    -> Marr\u00e9\n") == 1
    assert float(re.search(r"dev exact match (.*),", done.stdout)[1]) > 60
    # What the page asks at first is what this model answers.
    page = (ROOT / "serving/page/page.js").read_text()
    page = re.sub(r'" \+\s*"', "", page)
    assert [text for text in EXAMPLES.values() if text not in page] == []
    asked = serving.load(folder / "output/demo/squad_model").answer(
        EXAMPLES["question"], EXAMPLES["context"]
    )
    assert asked["answer"] == "eels" and asked["probability"] > 0.5
