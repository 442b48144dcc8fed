"""The network gives the recorded outputs on Keras's other backends."""

import importlib.util
import re

import pytest

from tests.support import fresh_process
from tests.support.paths import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_backends_compute_the_recorded_outputs(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    # Keras has one backend in a process.
    done = fresh_process.run(
        "-m",
        "pytest",
        "-m",
        "backends",
        "-p",
        "no:cacheprovider",
        "tests/modeling",
        KERAS_BACKEND=backend,
    )
    output = done.check().stdout
    assert int(re.search(r"(\d+) passed", output)[1]) > 5


# Without TensorFlow, as where Keras runs on another backend: what the network
# takes of it for speed is the one exception.
_WITHOUT = """
import builtins, sys

import keras

from tests.support.source_files import PACKAGES

import_module = builtins.__import__

def refuse(name, caller=None, *arguments, **more):
    module = (caller or {}).get("__name__", "")
    is_ours = module.split(".")[0] in PACKAGES
    if name.split(".")[0] == "tensorflow" and is_ours:
        if not module.startswith("modeling.accelerated"):
            raise ModuleNotFoundError(f"{module} imports {name}")
    return import_module(name, caller, *arguments, **more)

builtins.__import__ = refuse
import modeling

for name in modeling.__all__:
    if name not in ("save_checkpoint", "save_release"):
        getattr(modeling, name)
source, target = sys.argv[1:]
model = modeling.BertModel(modeling.load_config(source))
modeling.load_checkpoint(model, modeling.find_checkpoint(source))
for _ in range(2):
    modeling.save_huggingface(model, target)
report = modeling.load_checkpoint(model, target)
assert not report.missing and not report.unused
try:
    modeling.find_checkpoint(f"{target}/none")
except FileNotFoundError as error:
    assert "There is no checkpoint" in str(error)
try:
    modeling.save_checkpoint(model, "model.ckpt")
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.slow
def test_modeling_needs_tensorflow_for_its_checkpoints_alone(tmp_path):
    source = ROOT / "tests/testdata/huggingface/BertModel"
    target = tmp_path / "new/model"
    done = fresh_process.run("-c", _WITHOUT, source, target)
    output = done.check().stdout
    assert output == "modeling.checkpoints.tf1_writer imports tensorflow\n"


_PARALLEL = """
import keras
import numpy as np

import modeling
from tests.support import model_cases

def train():
    keras.utils.set_random_seed(0)
    model = model_cases.MODELS["classifier"](seed=1)
    model.compile("adam", modeling.ClassifierLoss())
    inputs = model_cases.create_inputs("classifier")
    batch = {
        name: np.concatenate([value, value[:1]])
        for name, value in inputs.items()
    }
    labels = np.array([0, 1, 2, 3])
    fitted = model.fit(batch, labels, epochs=2, verbose=0)
    return [*fitted.history["loss"], model.evaluate(batch, labels, verbose=0)]

one = train()
parallel = keras.distribution.DataParallel()
keras.distribution.set_distribution(parallel)
np.testing.assert_allclose(train(), one, atol=1e-5)
print(parallel.device_mesh.shape)
"""


@pytest.mark.slow
def test_two_devices_of_jax_train_as_one():
    pytest.importorskip("jax")
    done = fresh_process.run(
        "-c",
        _PARALLEL,
        KERAS_BACKEND="jax",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert done.check().stdout.strip().endswith("(2,)")
