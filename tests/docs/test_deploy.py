"""The configuration files of docs/deploy, by the rules of what reads them."""

import ast
import importlib
import re
import shutil
import subprocess
import tomllib

import pytest
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    text_format,
)

from serving.tasks import TASKS
from tests.golden import ROOT

DEPLOY = ROOT / "docs" / "deploy"
# The messages of TensorFlow Serving, so far as they are used: (name, type).
MESSAGES = {
    "Latest": {"num_versions": "uint32"},
    "Policy": {"latest": "Latest"},
    "Config": {
        "name": "string",
        "base_path": "string",
        "model_platform": "string",
        "model_version_policy": "Policy",
    },
    "ConfigList": {"config": "repeated Config"},
    "ModelServerConfig": {"model_config_list": "ConfigList"},
    "Int64Value": {"value": "int64"},
    "BatchingParameters": {
        "max_batch_size": "Int64Value",
        "batch_timeout_micros": "Int64Value",
        "max_enqueued_batches": "Int64Value",
        "num_batch_threads": "Int64Value",
    },
}


def parse(name, message):
    """Returns a text file as a message."""
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="serving.proto", package="t")
    for title, fields in MESSAGES.items():
        made = file.message_type.add(name=title)
        for number, (key, text) in enumerate(fields.items(), 1):
            label, kind = f"optional {text}".split()[-2:]
            added = made.field.add(name=key, number=number)
            added.label = getattr(kinds, f"LABEL_{label.upper()}")
            if kind in MESSAGES:
                added.type_name = f".t.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    kind = message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"t.{message}")
    )
    return text_format.Parse((DEPLOY / name).read_text(), kind())


def read_yaml(name):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    return yaml.safe_load((DEPLOY / name).read_text())


def test_tensorflow_serving():
    found = parse("models.config", "ModelServerConfig")
    models = found.model_config_list.config
    assert [model.name for model in models] == ["mrpc", "squad"]
    for model in models:
        # TensorFlow Serving takes only these.
        assert model.base_path.startswith("/")
        assert model.model_platform == "tensorflow"
        assert model.model_version_policy.latest.num_versions == 1
    batching = parse("batching.config", "BatchingParameters")
    assert batching.max_batch_size.value == 32
    assert batching.num_batch_threads.value > 0


def test_kserve():
    found = read_yaml("kserve.yaml")
    assert found["apiVersion"] == "serving.kserve.io/v1beta1"
    assert found["kind"] == "InferenceService"
    # A name that can be a part of a host's.
    assert found["metadata"]["name"].isalnum()
    predictor = found["spec"]["predictor"]
    assert 0 < predictor["minReplicas"] <= predictor["maxReplicas"]
    model = predictor["model"]
    assert model["modelFormat"] == {"name": "tensorflow"}
    assert model["protocolVersion"] == "v1"
    assert model["storageUri"].startswith("pvc://")


def test_ray_serve():
    found = read_yaml("ray_serve.yaml")
    (app,) = found["applications"]
    module, function = app["import_path"].split(":")
    tree = ast.parse((DEPLOY / f"{module}.py").read_text())
    names = {node.name: node for node in tree.body if hasattr(node, "name")}
    assert isinstance(names[function], ast.FunctionDef)
    # It reads these arguments, and no others are given.
    assert app["args"].keys() == {"model", "task"}
    kinds = {kind.name for each in TASKS.values() for kind in each}
    assert app["args"]["task"] in kinds
    (deployment,) = app["deployments"]
    decorators = names[deployment["name"]].decorator_list
    assert [ast.unparse(one) for one in decorators] == ["serve.deployment"]
    assert found["http_options"]["host"] == "127.0.0.1"


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
