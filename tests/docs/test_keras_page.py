"""docs/keras.md and docs/keras.ipynb from top to bottom, on a tiny model."""

import contextlib
import io
import json
import re
import shutil
import textwrap

import pytest

import modeling
from data.text import FullTokenizer
from tests.support.paths import ROOT, SAMPLES
from tests.support.source_files import blocks

# A block, and the output that the page shows below it.
SHOWN = re.compile(
    r"^( *)```python\n(.*?)^\1```$(?:\n\n^\1```text\n(.*?)^\1```$)?",
    re.M | re.S,
)


@pytest.fixture
def models(tmp_path):
    """A folder with `pretraining`, a tiny model with random weights."""
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    config = modeling.BertConfig(
        vocab_size=len(tokenizer.tokens),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
    )
    model = modeling.BertPretrainer(config, seed=1)
    model.build()
    modeling.save_huggingface(model, tmp_path / "pretraining")
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(SAMPLES / name, tmp_path / "pretraining" / name)
    return tmp_path


def read_page():
    """Yields (heading, code, output or "") of each block of the page."""
    page = (ROOT / "docs/keras.md").read_text("utf-8")
    for section in page.split("\n## ")[1:]:
        for _, code, shown in SHOWN.findall(section):
            texts = map(textwrap.dedent, (code, shown))
            yield section.splitlines()[0], *texts


def read_readme():
    """Yields the block of README.md, with what it leaves out."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (code,) = [c for c in blocks(readme, "py") if "Preprocessor" in c]
    start = "import data.text, keras, modeling, numpy as np\n"
    start += 'folder = "output/demo/pretraining"\n'
    yield "README", start + code.replace("0]))", "0]), verbose=0)"), ""


def read_notebook():
    """Yields (heading, code, output or "") of each cell of the notebook."""
    heading = "Start"
    notebook = json.loads((ROOT / "docs/keras.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            heading = source.splitlines()[0].removeprefix("## ")
        else:
            shown = [line for out in cell["outputs"] for line in out["text"]]
            yield heading, source, "".join(shown)


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_page, read_notebook, read_readme])
def test_each_block_runs_and_prints_what_it_shows(read, models, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("BERT_MODELS", str(models))
    names = {}
    failed = []
    headings = []
    for heading, code, shown in read():
        headings.append(heading)
        code = code.replace("output/demo", str(models))
        code = code.replace("output/keras", str(models / "results"))
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        except Exception as error:
            failed.append(f"{heading}: {error!r:.300}")
            continue
        # Another model prints other numbers and words, but as many lines.
        printed_lines = printed.getvalue().splitlines()
        if len(printed_lines) != len(shown.splitlines()):
            failed.append(f"{heading}: printed {printed_lines}")
    assert not failed
    assert len({*headings}) >= 7 or read is read_readme
