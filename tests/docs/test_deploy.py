"""The configuration files of docs/deploy, by the rules of what reads them."""

import importlib
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.golden import ROOT

DEPLOY = ROOT / "docs" / "deploy"


def read_yaml(name):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    return yaml.safe_load((DEPLOY / name).read_text())


def test_tensorflow_serving():
    text = (DEPLOY / "models.config").read_text()
    models = re.findall(r"config \{(.*?)\n  \}", text, re.S)
    for name, model in zip(("mrpc", "squad"), models, strict=True):
        assert f'name: "{name}"' in model
        # TensorFlow Serving takes only these.
        assert 'base_path: "/' in model
        assert 'model_platform: "tensorflow"' in model
        assert "latest { num_versions: 1 }" in model
    text = (DEPLOY / "batching.config").read_text()
    found = dict(re.findall(r"^(\w+) \{ value: (\d+) \}", text, re.M))
    assert found["max_batch_size"] == "32" and found["num_batch_threads"]


def test_kserve():
    found = read_yaml("kserve.yaml")
    assert found["apiVersion"] == "serving.kserve.io/v1beta1"
    assert found["kind"] == "InferenceService"
    predictor = found["spec"]["predictor"]
    model = predictor["model"]
    assert model["modelFormat"] == {"name": "tensorflow"}
    assert model["protocolVersion"] == "v1"
    assert model["storageUri"].startswith("pvc://")


@pytest.mark.parametrize("name", ["predict", "train"])
def test_a_dockerfile_names_what_is_there(name):
    path = DEPLOY / f"{name}.Dockerfile"
    text = path.read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for command in re.findall(r"\bbert-(?!predict\b|train\b)[\w-]+", text):
        module, function = project["scripts"][command].split(":")
        assert callable(getattr(importlib.import_module(module), function))
    for file in re.findall(r"requirements/\S+", text):
        assert (ROOT / file).is_file()
    # What it makes is not copied into the image.
    assert "output" in (ROOT / ".dockerignore").read_text().split()
    if linter := shutil.which("hadolint"):
        subprocess.run([linter, path], check=True)
