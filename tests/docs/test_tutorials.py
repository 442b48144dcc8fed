"""The commands of the tutorials, from top to bottom, with fewer steps."""

import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from tests.docs.test_pages import blocks
from tests.golden import ROOT
from tests.script_runner import SAMPLES

# Of these pages, the sections with a number.
PAGES = ["tutorial_table", "named_entities", "own_text", "server"]
SECTIONS = re.compile(r"^## \d\. .*?(?=^## |\Z)", re.M | re.S)
# What installs, downloads or needs Docker is not run.
SKIPPED = re.compile(r"^(pip install|docker|curl -LO|make) .*\n", re.M)
SHORTER = {"num_train_epochs": 1, "num_train_steps": 4, "num_warmup_steps": 1}


@pytest.mark.slow
def test_the_tutorials_run(tmp_path):
    """A later tutorial uses what an earlier one made."""
    for path in ROOT.iterdir():
        if not path.name.startswith(".") and path.name != "output":
            (tmp_path / path.name).symlink_to(path)
    demo = tmp_path / "output/demo/pretraining"
    config = modeling.BertConfig.from_json_file(SAMPLES / "bert_config.json")
    model = modeling.BertPretrainer(config, seed=1)
    model.build()
    demo.parent.mkdir(parents=True)
    modeling.save_release(model, demo, FullTokenizer(SAMPLES / "vocab.txt"))
    shutil.copy(demo / "vocab.txt", demo.parent)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    binaries = os.path.dirname(sys.executable)
    for name in PAGES:
        page = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
        numbered = "".join(SECTIONS.findall(page))
        code = SKIPPED.sub("", "\n".join(blocks(numbered, "bash")))
        code = code.replace("8501", str(port)).replace("8502", str(port + 1))
        for flag, value in SHORTER.items():
            code = re.sub(rf"--{flag}=\d+", f"--{flag}={value}", code)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-m", "-c", code],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert not done.returncode, f"{name}: {done.stderr[-2000:]}"
        assert done.stdout
