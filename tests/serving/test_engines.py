"""Exports in all runtimes, most without TensorFlow, against SavedModels."""

import concurrent.futures
import importlib.util
import json
import logging
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
from absl import logging as absl_logging

import serving
from serving import engines
from serving.signatures import ServingOptions
from tests import toy_task
from tests.checkpoints import INPUTS
from tests.golden import ROOT
from tests.serving import conftest
from tests.serving.conftest import LENGTH, MASKED, QUESTIONS, TEXTS, TOKENIZER
from training.config import ExportConfig

INSTALLED = [
    name
    for name, runtime in engines.RUNTIMES.items()
    if importlib.util.find_spec(runtime.package)
]
SMALL = [name for name in INSTALLED if name != "saved_model"]
# The writers of these need their runtimes.
FORMAT = ",".join(dict.fromkeys(["litert", *SMALL]))


def needs(name):
    file = engines.RUNTIMES[name].requirements
    reason = f"needs pip install -r {file}"
    return pytest.mark.skipif(name not in INSTALLED, reason=reason)


ENGINES = [pytest.param(name, marks=needs(name)) for name in engines.RUNTIMES]
# {precision: the most by which an answer differs with its neighbors}
LIMITS = {"float32": 1e-5, "bfloat16": 0.02, "int8": 1e-5}
# {method: (kind of export, what it is asked)}
REQUESTS = {
    "classify": ("classifier", [TEXTS, [*TEXTS[3:], *TEXTS[:3]]]),
    "answer": ("squad", [*QUESTIONS.values()]),
    "tag": ("ner", [TEXTS]),
    "fill_mask": (
        "pretraining",
        [[text for text in MASKED if "[MASK]" in text]],
    ),
    "next_sentence": ("pretraining", [TEXTS, TEXTS[::-1]]),
    "embed": ("features", [TEXTS]),
    "tokenize": ("features", [TEXTS, TEXTS[::-1]]),
}
BLOCK = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        refused = "tensorflow keras google.protobuf safetensors scipy sklearn"
        assert not name.startswith(tuple(refused.split())), name

sys.meta_path.insert(0, Refuse())
"""


def export(kind, folder, format=FORMAT, **options):
    config = ExportConfig(export_dir="x", export_format=format, **options)
    conftest.export(
        kind, folder, ServingOptions(TOKENIZER, LENGTH, export=config)
    )
    return folder


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """{kind: folder of an export}, of the weights of `exports`."""
    folder = tmp_path_factory.mktemp("engines")
    kinds = {kind for kind, _ in REQUESTS.values()}
    return {kind: export(kind, folder / kind) for kind in kinds}


@pytest.fixture(scope="session")
def ask(folders, load):
    """(engine, kind) -> a model."""

    def ask(engine, kind):
        if engine == "saved_model":
            return load(kind)
        return serving.load(folders[kind], engine=engine)

    return ask


def assert_same(found, expected, atol=1e-5):
    """Compares answers; numbers may differ by rounding."""
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        pairs = [(found[key], expected[key]) for key in expected]
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        pairs = [*zip(found, expected, strict=True)]
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-4, abs=atol)
        return
    else:
        assert found == expected
        return
    for one, other in pairs:
        assert_same(one, other, atol)


@pytest.mark.parametrize("method", REQUESTS)
@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_answers_are_those_of_the_saved_model(
    engine, method, ask, load, folders
):
    kind, texts = REQUESTS[method]
    options = {"answer": {"n_best": 5}, "embed": {"tokens": True}}
    more = options.get(method, {})
    bert = ask(engine, kind)
    assert bert.engine.name == engine
    if engine == "openvino":
        from serving.engines.openvino import OpenVino

        bert.engine = OpenVino(folders[kind], precision="float32")
    found = getattr(bert, method)(*texts, **more)
    assert_same(found, getattr(load(kind), method)(*texts, **more))
    assert bert.tasks == [
        name for name in load(kind).tasks if name != "attention"
    ]


@pytest.mark.parametrize("method", REQUESTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_does_not_depend_on_its_neighbors(engine, method, ask):
    kind, texts = REQUESTS[method]
    bert = ask(engine, kind)
    answer = getattr(bert, method)
    for together, *fields in zip(answer(*texts), *texts, strict=True):
        assert_same(answer(*fields), together, LIMITS[bert.engine.precision])


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_in_int8_too_it_does_not(engine, tmp_path):
    """A range is that of a row, or a row runs by itself."""
    folder = export("classifier", tmp_path / "model", engine, quantize="int8")
    bert = serving.load(folder)
    assert (bert.engine.name, bert.engine.precision) == (engine, "int8")
    for text, together in zip(TEXTS, bert.classify(TEXTS), strict=True):
        assert_same(bert.classify(text), together)


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_share_a_model(engine, folders, load):
    bert = load("classifier")
    if engine != "saved_model":
        bert = serving.load(folders["classifier"], False, 1, engine)
    limit = LIMITS[bert.engine.precision]
    expected = [bert.classify(text) for text in TEXTS]

    def ask(number):
        text = number % len(TEXTS)
        assert_same(bert.classify(TEXTS[text]), expected[text], limit)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(ask, range(400))]) == 400


def test_several_formats_share_a_folder(tmp_path, caplog):
    """It is a SavedModel, and each engine finds the same files."""
    folder = export("classifier", tmp_path / "model", f"saved_model,{FORMAT}")
    assert not (folder / "assets.extra").exists()
    assert tf.saved_model.contains_saved_model(folder)
    # The export set it.
    absl_logging.get_absl_logger().setLevel("NOTSET")
    caplog.set_level(logging.INFO)
    answers = {}
    for name in INSTALLED:
        bert = serving.load(folder, engine=name)
        assert bert.engine.name == name
        assert f"{folder}: engine {name}, {bert.engine.precision}" in (
            caplog.text
        )
        answers[name] = bert.classify(TEXTS)
    for name, answer in answers.items():
        limit = 0.05 if name == "openvino" else 1e-5
        assert_same(answer, answers["saved_model"], limit)
    assert bert.attention(TEXTS[0])["tokens"]
    # The first that is installed, of those that have a file.
    assert serving.load(folder).engine.name == INSTALLED[0]
    for runtime in engines.RUNTIMES.values():
        if runtime.file != "saved_model.pb":
            (folder / runtime.file).unlink(missing_ok=True)
    assert serving.load(folder).engine.name == "saved_model"
    with pytest.raises(ValueError, match="no model.tflite, .* for saved_model"):
        serving.load(folder, engine="litert")


@pytest.mark.parametrize("has_cuda", [False, True])
@needs("onnx")
def test_a_gpu_is_chosen_if_a_package_can_use_it(
    has_cuda, monkeypatch, folders, caplog
):
    """None was tried: here the list of ONNX Runtime decides, real or longer."""
    import onnxruntime

    real = onnxruntime.get_available_providers()
    monkeypatch.setattr(engines.glob, "glob", lambda _: ["/dev/nvidia0"])
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if has_cuda:
        longer = ["CUDAExecutionProvider", *real]
        monkeypatch.setattr(
            onnxruntime, "get_available_providers", lambda: longer
        )
    elif "CUDAExecutionProvider" in real or tf.config.list_physical_devices(
        "GPU"
    ):
        pytest.skip("a package here can use GPUs")
    expected = "onnx" if has_cuda else INSTALLED[0]
    assert engines._choose([*engines.RUNTIMES]) == expected
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert engines._choose([*engines.RUNTIMES]) == INSTALLED[0]
    # It lists what it cannot load, and computes all the same.
    model = serving.load(folders["classifier"], engine="onnx")
    assert "label" in model.classify("a boat")
    assert ("onnx computes on the CPU" in caplog.text) == has_cuda


class Counting(toy_task.ToyTask):
    """Counts the batches that were read before the first one was scored."""

    num_read = 0

    def create_batches(self, size):
        assert size * LENGTH <= engines.BUDGET < (size + 1) * LENGTH
        for self.num_read in range(1, 4):
            yield {name: np.ones([size, LENGTH], np.int32) for name in INPUTS}

    def read_served(self, outputs):
        return outputs["probabilities"]

    def evaluate(self, split, batches):
        sizes = [len(next(batches)[1]), self.num_read]
        return {"first": sizes[0], "read": sizes[1], "more": len([*batches])}


def test_records_are_scored_in_batches_of_bounded_size(folders):
    options = toy_task.create_config("x", max_seq_length=LENGTH)
    task = Counting(options)
    scores = serving.evaluate_export(
        task, folders["classifier"], "eval", task.create_batches
    )
    size = engines.BUDGET // LENGTH
    assert scores == dict.fromkeys(SMALL, {"first": size, "read": 1, "more": 2})


class Recording(toy_task.ToyTask):
    """Returns the first outputs as its scores."""

    head = "BertClassifier"

    def read_served(self, outputs):
        return outputs["probabilities"]

    def evaluate(self, split, batches):
        return dict(enumerate(next(iter(batches))[1].tolist()))


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_an_export_is_scored_as_it_is_served(engine, tmp_path):
    folder = export("classifier", tmp_path / "x", engine, quantize="int8")
    bert = serving.load(folder)
    inputs = [
        bert.task("classify").encode({"text_a": text}).inputs[0]
        for text in TEXTS
    ]
    task = Recording(toy_task.create_config("x", max_seq_length=LENGTH))
    scores = serving.evaluate_export(
        task, folder, "eval", lambda _: [engines._pack(inputs, LENGTH)]
    )
    served = [[*x["probabilities"].values()] for x in bert.classify(TEXTS)]
    np.testing.assert_allclose([*scores[engine].values()], served, atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_length_is_beyond_the_positions(engine, tmp_path):
    """30 would be rounded up to 32."""
    config = ExportConfig(export_dir="x", export_format=engine)
    options = ServingOptions(TOKENIZER, 30, export=config)
    conftest.export("features", tmp_path, options, max_length=30)
    bert = serving.load(tmp_path)
    assert len(bert.embed(TEXTS[3], tokens=True)["tokens"]) == 30


def test_lengths_are_few():
    """Each new one takes memory of its own."""
    lengths = [engines._round_up(length, 512) for length in range(1, 513)]
    assert all(found >= length for length, found in enumerate(lengths, 1))
    assert len({*lengths}) == 20
    assert max(found / length for length, found in enumerate(lengths, 1)) <= 8
    assert max(np.array(lengths[64:]) / range(65, 513)) < 1.25


@needs("litert")
def test_what_a_model_does_not_read_costs_nothing(folders):
    bert = serving.load(folders["classifier"])
    short, long = ("the boat " * count for count in (1_000, 1_200_000))
    bert.classify(short)
    times = []
    for text in (short, long):
        begin = time.perf_counter()
        answer = bert.classify(text)
        times.append(time.perf_counter() - begin)
        assert answer["num_wordpieces_cut"] > 1000
    # Nearly all of it is the search for half of a surrogate pair.
    assert times[1] < times[0] + 0.1
    assert_same(bert.classify(long)["label"], bert.classify(short)["label"])


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_a_fixed_length(engine, ask, tmp_path):
    export("classifier", tmp_path / "x", engine, export_seq_length=LENGTH - 4)
    bert, other = serving.load(tmp_path / "x"), ask(engine, "classifier")
    limit = LIMITS[bert.engine.precision]
    assert_same(bert.classify(TEXTS[0]), other.classify(TEXTS[0]), limit)
    assert bert.classify(TEXTS[3])["num_wordpieces_cut"] == (
        other.classify(TEXTS[3])["num_wordpieces_cut"] + 4
    )


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_what_cannot_be_loaded_is_said(engine, folders, ask, tmp_path):
    with pytest.raises(ValueError, match="does not tag; it does classify, tok"):
        ask(engine, "classifier").tag("a")
    shutil.copytree(folders["classifier"], tmp_path / "3")
    for name in SMALL:
        path = tmp_path / "3" / engines.RUNTIMES[name].file
        path.write_bytes(b"damaged") if name == engine else path.unlink()
    file = engines.RUNTIMES[engine].file
    with pytest.raises(OSError, match=f"{file} cannot be loaded; export"):
        serving.load(tmp_path)


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_too_long_an_input_is_refused(engine, ask):
    """The network has 32 positions."""
    ids = np.ones([1, 40], np.int32)
    with pytest.raises(ValueError, match="the model cannot take it: "):
        ask(engine, "classifier").engine.run(dict.fromkeys(engines.INPUTS, ids))


def run(script, *arguments):
    """Runs a program that has only what requirements/predict.txt lists."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCK + script, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("runtime", engines.RUNTIMES.values())
def test_a_missing_runtime_is_said(runtime, tmp_path):
    (tmp_path / runtime.file).parent.mkdir(exist_ok=True)
    (tmp_path / runtime.file).touch()
    script = f"""
import importlib.util, serving
find, package = importlib.util.find_spec, "{runtime.package}"
importlib.util.find_spec = lambda name: name != package and find(name)
serving.load("{tmp_path}")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT
    )
    message = f"{tmp_path} needs {runtime.package}: pip install -r requirements"
    assert message in done.stderr


@pytest.mark.parametrize("method", REQUESTS)
@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_predict_needs_no_tensorflow(engine, method, folders, load):
    if engine != "litert" and method != "classify":
        pytest.skip("one task of each engine is enough")
    kind, texts = REQUESTS[method]
    fields = [field[0] for field in texts]
    answer = run(
        'import runpy\nrunpy.run_path("predict.py", run_name="__main__")',
        f"--model={folders[kind]}",
        f"--engine={engine}",
        "--num_threads=1",
        f"--task={method.replace('_', '-')}",
        *fields,
    )
    limit = 0.05 if engine == "openvino" else 1e-5
    expected = getattr(load(kind), method)(*fields)
    assert_same(json.loads(answer), expected, limit)


def test_the_python_half_of_data_needs_no_tensorflow():
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in sorted((ROOT / "data").rglob("*.py"))
        if "import tensorflow" not in path.read_text()
        and not path.name.endswith("_layer.py")
    ]
    assert len(modules) > 40
    run(f"import {', '.join(modules)}, serving.models, predict")
