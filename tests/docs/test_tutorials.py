"""The demo, and the commands of the tutorials with fewer steps."""

import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

import serving
from tests.support.paths import ROOT
from tests.support.source_files import blocks

pytestmark = pytest.mark.slow

# Of these pages, the sections with a number. A later tutorial uses what an
# earlier one wrote.
PAGES = ["tutorial_table", "more_rows", "named_entities", "own_text", "server"]
SECTIONS = re.compile(r"^## \d\. .*?(?=^## |\Z)", re.M | re.S)
# What installs, downloads or needs Docker is not run.
SKIPPED = re.compile(r"^(pip install|docker|curl -LO|make) .*\n", re.M)
SHORTER = {"num_train_epochs": 1, "num_train_steps": 4, "num_warmup_steps": 1}
# Texts of the server's page.
EXAMPLES = {
    "question": "What does the Old Lamp catch?",
    "context": "The Old Lamp is a small boat from Ivelle. She is used to catch "
    "eels. Her owner is a retired teacher.",
}


def run_command(folder, *command):
    """Runs a command in a folder, and returns what it prints."""
    binaries = os.path.dirname(sys.executable)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """(a copy of the project, what its demo printed)."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    ignored = shutil.ignore_patterns(".*", "output", "tests", "benchmarks")
    shutil.copytree(ROOT, folder, ignore=ignored)
    return folder, run_command(
        folder.parent, "python", "project/examples/demo.py"
    )


def test_the_demo_trains_a_model_that_answers(project):
    folder, shown = project
    assert shown.count("\n    -> Marr\u00e9\n") == 1
    assert float(re.search(r"dev exact match (.*),", shown)[1]) > 60
    # What the page asks at first is what this model answers.
    page = (ROOT / "serving/http/page/page.js").read_text()
    page = re.sub(r'" \+\s*"', "", page)
    assert [text for text in EXAMPLES.values() if text not in page] == []
    asked = serving.load(folder / "output/demo/squad_model").answer(
        EXAMPLES["question"], EXAMPLES["context"]
    )
    assert asked["answer"] == "eels"
    assert asked["probability"] > 0.5


def test_the_tutorials_run(project):
    # The port after a free one may be a client's.
    with socket.socket() as first, socket.socket() as second:
        for free in (first, second):
            free.bind(("127.0.0.1", 0))
        ports = [str(free.getsockname()[1]) for free in (first, second)]
    for name in PAGES:
        page = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
        numbered = "".join(SECTIONS.findall(page))
        code = SKIPPED.sub("", "\n".join(blocks(numbered, "bash")))
        code = code.replace("8501", ports[0]).replace("8502", ports[1])
        for flag, value in SHORTER.items():
            code = re.sub(rf"--{flag}=\d+", f"--{flag}={value}", code)
        options = ("-euo", "pipefail", "-m", "-c")
        assert run_command(project[0], "bash", *options, code), name
