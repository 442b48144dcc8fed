"""docs/serving.ipynb from top to bottom, on tiny models."""

import json

import pytest

from tests.support.paths import ROOT

# The notebook's models, and the exports that stand for them.
MODELS = {
    "pretrained_model": "pretraining",
    "classifier_model": "classifier",
    "squad_model": "squad",
    "encoder_model": "features",
}


@pytest.mark.slow
def test_the_notebook_runs(saved_models_folder, tmp_path, monkeypatch):
    for name, export in MODELS.items():
        (tmp_path / name).symlink_to(saved_models_folder / export)
    monkeypatch.setenv("BERT_MODELS", str(tmp_path))
    notebook = json.loads((ROOT / "docs" / "serving.ipynb").read_text())
    names = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        exec("".join(cell["source"]), names)
    assert len(cells) == 6
    assert names["vectors"].shape == (3, 16)
    # The demo and the notebook's commands write what the notebook asks.
    demo = (ROOT / "examples/demo.py").read_text()
    commands = "".join(notebook["cells"][0]["source"])
    for name in MODELS:
        assert f"/{name}" in demo + commands
