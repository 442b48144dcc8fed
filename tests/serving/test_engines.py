"""Exports in LiteRT, used without TensorFlow, against their SavedModels."""

import concurrent.futures
import dataclasses
import json
import subprocess
import sys
import time

import numpy as np
import pytest

import serving
from serving import engines
from serving.engines import litert
from serving.signatures import ServingOptions
from tests import toy_task
from tests.checkpoints import INPUTS
from tests.golden import ROOT
from tests.serving import conftest
from tests.serving.conftest import LENGTH, MASKED, QUESTIONS, TEXTS, TOKENIZER
from training.config import ExportConfig

pytest.importorskip(
    "ai_edge_litert", reason="needs pip install -r requirements/litert.txt"
)
FORMAT = ExportConfig(export_dir="x", export_format="litert")
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


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """{kind: folder of a LiteRT export}, of the weights of `exports`."""
    folder = tmp_path_factory.mktemp("litert")
    options = ServingOptions(TOKENIZER, LENGTH, export=FORMAT)
    kinds = {kind for kind, _ in REQUESTS.values()}
    for kind in kinds:
        conftest.export(kind, folder / kind, options)
    return {kind: folder / kind for kind in kinds}


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
def test_answers_are_those_of_the_saved_model(method, folders, load):
    kind, texts = REQUESTS[method]
    options = {"answer": {"n_best": 5}, "embed": {"tokens": True}}
    more = options.get(method, {})
    bert = serving.load(folders[kind])
    found = getattr(bert, method)(*texts, **more)
    assert_same(found, getattr(load(kind), method)(*texts, **more))
    assert bert.tasks == [
        name for name in load(kind).tasks if name != "attention"
    ]
    assert isinstance(bert.engine, litert.LiteRt)


@pytest.mark.parametrize("method", REQUESTS)
def test_an_answer_does_not_depend_on_its_neighbors(method, folders):
    kind, texts = REQUESTS[method]
    ask = getattr(serving.load(folders[kind]), method)
    together = ask(*texts)
    for each, *fields in zip(together, *texts, strict=True):
        assert_same(ask(*fields), each)


def test_in_int8_too_it_does_not(tmp_path):
    """Ranges are those of each row, not of a batch."""
    config = dataclasses.replace(FORMAT, quantize="int8")
    options = ServingOptions(TOKENIZER, LENGTH, export=config)
    conftest.export("classifier", tmp_path / "model", options)
    bert = serving.load(tmp_path / "model")
    for text, together in zip(TEXTS, bert.classify(TEXTS), strict=True):
        assert_same(bert.classify(text), together)


def test_threads_share_a_model(folders):
    bert = serving.load(folders["classifier"], num_threads=1)
    expected = [bert.classify(text) for text in TEXTS]

    def ask(number):
        text = number % len(TEXTS)
        assert_same(bert.classify(TEXTS[text]), expected[text])

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(ask, range(400))]) == 400


class Counting(toy_task.ToyTask):
    """Counts the batches that were read before the first one was scored."""

    num_read = 0

    def create_batches(self, size):
        assert size * LENGTH <= engines.BUDGET < (size + 1) * LENGTH
        for self.num_read in range(1, 4):
            yield {name: np.ones([size, LENGTH], np.int32) for name in INPUTS}

    def evaluate(self, split, batches):
        sizes = [len(next(batches)[1]), self.num_read]
        return {"first": sizes[0], "read": sizes[1], "more": len([*batches])}


def test_records_are_scored_in_batches_of_bounded_size(folders):
    options = toy_task.create_config("x", max_seq_length=LENGTH)
    task = Counting(options)
    scores = serving.evaluate_export(
        *(task, folders["classifier"], "eval", task.create_batches),
        lambda outputs: outputs["probabilities"],
    )
    size = engines.BUDGET // LENGTH
    assert scores == {"litert": {"first": size, "read": 1, "more": 2}}


def test_lengths_are_few():
    """Each new one takes memory of its own."""
    lengths = [engines._round_up(length) for length in range(1, 513)]
    assert all(found >= length for length, found in enumerate(lengths, 1))
    assert len({*lengths}) == 20
    assert max(found / length for length, found in enumerate(lengths, 1)) <= 8
    assert max(np.array(lengths[64:]) / range(65, 513)) < 1.25


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


def test_a_fixed_length(folders, tmp_path):
    config = ExportConfig(
        export_dir="x", export_format="litert", export_seq_length=LENGTH - 4
    )
    options = ServingOptions(TOKENIZER, LENGTH, export=config)
    conftest.export("classifier", tmp_path / "model", options)
    bert, other = map(serving.load, (tmp_path / "model", folders["classifier"]))
    assert_same(bert.classify(TEXTS[0]), other.classify(TEXTS[0]))
    assert bert.classify(TEXTS[3])["num_wordpieces_cut"] == (
        other.classify(TEXTS[3])["num_wordpieces_cut"] + 4
    )


def test_what_cannot_be_loaded_is_said(folders, tmp_path):
    with pytest.raises(ValueError, match="does not tag; it does classify, tok"):
        serving.load(folders["classifier"]).tag("a")
    (tmp_path / "2").symlink_to(folders["classifier"])
    (tmp_path / "3").mkdir()
    assert serving.load(tmp_path).tasks == ["classify", "tokenize"]
    (tmp_path / "3/model.tflite").write_bytes(b"damaged")
    with pytest.raises(OSError, match="model.tflite cannot be loaded; export"):
        serving.load(tmp_path)


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


@pytest.mark.parametrize("kind", ["saved_model.pb", "model.tflite"])
def test_a_missing_runtime_is_said(kind, tmp_path):
    (tmp_path / kind).touch()
    package = "tensorflow" if kind == "saved_model.pb" else "ai_edge_litert"
    script = f"""
import importlib.util, serving
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: name != "{package}" and find_spec(name)
serving.load("{tmp_path}")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT
    )
    message = f"{tmp_path} needs {package}; pip install -r requirements"
    assert message in done.stderr


@pytest.mark.parametrize("method", REQUESTS)
def test_predict_needs_no_tensorflow(method, folders, load):
    kind, texts = REQUESTS[method]
    fields = [field[0] for field in texts]
    answer = run(
        'import runpy\nrunpy.run_path("predict.py", run_name="__main__")',
        f"--model={folders[kind]}",
        f"--task={method.replace('_', '-')}",
        *fields,
    )
    assert_same(json.loads(answer), getattr(load(kind), method)(*fields))


def test_the_python_half_of_data_needs_no_tensorflow():
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in sorted((ROOT / "data").rglob("*.py"))
        if "import tensorflow" not in path.read_text()
        and not path.name.endswith("_layer.py")
    ]
    assert len(modules) > 40
    run(f"import {', '.join(modules)}, serving.models, predict")
