"""Exports on all engines, most without TensorFlow, against SavedModels."""

import concurrent.futures
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import serving
from exporting import export_formats
from serving import engines
from tests.support.checkpoints import assert_same
from tests.support.serving import exports
from tests.support.serving.engines import ENGINES, needs_engine, run_predict
from tests.support.serving.exports import (
    FORMAT,
    INSTALLED,
    LENGTH,
    MASKED,
    QUESTIONS,
    SMALL,
    TEXTS,
)
from tests.support.tasks.batch_keeping_task import BatchKeepingTask

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
ASKED = [
    pytest.param(name, method, marks=needs_engine(name))
    for name in export_formats.FILE_OF_FORMAT
    for method in REQUESTS
]


def export_kind(kind, folder, format=FORMAT, **options):
    exports.export_model(
        kind, folder, exports.create_options(format, **options)
    )
    return folder


@pytest.fixture(scope="module")
def all_formats(tmp_path_factory):
    """The folder of a classifier in every format."""
    return export_kind(
        "classifier",
        tmp_path_factory.mktemp("all_formats") / "model",
        f"saved_model,{FORMAT}",
    )


@pytest.fixture(scope="module", params=ENGINES[:2])
def in_int8(request, tmp_path_factory):
    """A classifier in int8, loaded from the one file that its folder has."""
    folder = tmp_path_factory.mktemp("int8") / request.param
    export_kind("classifier", folder, request.param, quantize="int8")
    return serving.load(folder)


@pytest.fixture(scope="session")
def load_on(export_folders, load_text_model):
    """(engine, kind) -> a model."""

    def load(engine, kind):
        if engine == "saved_model":
            return load_text_model(kind)
        return serving.load(export_folders[kind], engine=engine)

    return load


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "method"),
    [case for case in ASKED if case.values[0] != "saved_model"],
)
def test_replies_are_those_of_the_saved_model(
    engine, method, load_on, load_text_model
):
    kind, texts = REQUESTS[method]
    more = {"answer": {"n_best": 5}, "embed": {"tokens": True}}.get(method, {})
    bert = load_on(engine, kind)
    assert bert.engine.name == engine
    result = getattr(bert, method)(*texts, **more)
    assert_same(result, getattr(load_text_model(kind), method)(*texts, **more))
    assert bert.text_task_names == load_text_model(kind).text_task_names


@pytest.mark.parametrize("engine", ENGINES)
def test_a_label_does_not_depend_on_its_neighbors(engine, all_formats):
    classifier = serving.load(all_formats, engine=engine)
    for text, together in zip(TEXTS, classifier.classify(TEXTS), strict=True):
        assert_same(classifier.classify(text), together)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "method"), ASKED)
def test_a_reply_does_not_depend_on_its_neighbors(engine, method, load_on):
    kind, texts = REQUESTS[method]
    bert = load_on(engine, kind)
    answer = getattr(bert, method)
    for together, *fields in zip(answer(*texts), *texts, strict=True):
        assert_same(answer(*fields), together)


def test_a_reply_in_int8_does_not_depend_on_its_neighbors(in_int8):
    """A range is that of a row, or a row runs by itself."""
    assert in_int8.path.endswith(in_int8.engine.name)
    for text, together in zip(TEXTS, in_int8.classify(TEXTS), strict=True):
        assert_same(in_int8.classify(text), together)


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_a_copy_over_the_files_changes_no_reply(engine, all_formats, tmp_path):
    shutil.copytree(all_formats, tmp_path / "model")
    model = serving.load(tmp_path / "model", engine=engine)
    before = model.classify(TEXTS)
    for file in (tmp_path / "model").rglob("*"):
        if file.is_file():
            # Overwrite the file that the engine has open, not a new one.
            with file.open("r+b") as opened:
                opened.write(bytes(file.stat().st_size))
    assert_same(model.classify(TEXTS), before)


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_share_a_model(engine, all_formats):
    # TensorFlow has started, so the number of its threads cannot change.
    num_threads = None if engine == "saved_model" else 1
    bert = serving.load(all_formats, num_threads, engine)
    expected = [bert.classify(text) for text in TEXTS]

    def ask(number):
        text = number % len(TEXTS)
        assert_same(bert.classify(TEXTS[text]), expected[text])

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(ask, range(400))]) == 400


def test_an_export_in_several_formats_is_a_saved_model(all_formats):
    assert not (all_formats / "assets.extra").exists()
    assert tf.saved_model.contains_saved_model(all_formats)


def test_several_formats_in_a_folder_give_the_same_replies(all_formats):
    folder = all_formats
    expected = serving.load(folder, engine="saved_model").classify(TEXTS)
    for name in INSTALLED:
        bert = serving.load(folder, engine=name)
        assert bert.engine.name == name
        assert_same(bert.classify(TEXTS), expected)


def test_the_first_installed_engine_with_a_file_is_loaded(
    all_formats, tmp_path
):
    folder = shutil.copytree(all_formats, tmp_path / "model")
    assert serving.load(folder).engine.name == INSTALLED[0]
    for file in export_formats.FILE_OF_FORMAT.values():
        if file != "saved_model.pb":
            (folder / file).unlink(missing_ok=True)
    assert serving.load(folder).engine.name == "saved_model"
    with pytest.raises(ValueError, match=r"model\.tflite"):
        serving.load(folder, engine="litert")


def test_an_export_is_scored_as_it_is_served(in_int8, tmp_path):
    texts = [text for text in TEXTS if text.strip()]
    rows = []
    for text in texts:
        encoded = in_int8.text_task().encode(
            in_int8.loaded_export, {"text_a": text}
        )
        (network_input,) = encoded.inputs
        rows.append(network_input.ids)
    task = BatchKeepingTask(tmp_path, rows)
    task.evaluate_export(Path(in_int8.path))
    outputs = np.concatenate([outputs for _, outputs in task.batches])
    served = [
        [*reply["probabilities"].values()] for reply in in_int8.classify(texts)
    ]
    np.testing.assert_allclose(np.exp(outputs), served, atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_a_model_of_a_fixed_length_cuts_texts_there(
    engine, all_formats, tmp_path
):
    export_kind("classifier", tmp_path / "x", engine, fixed_length=LENGTH - 4)
    bert = serving.load(tmp_path / "x")
    other = serving.load(all_formats, engine=engine)
    assert {*bert.engine.inputs.values()} == {(None, LENGTH - 4)}
    assert bert.head_settings["max_seq_length"] == LENGTH - 4
    assert_same(bert.classify(TEXTS[0]), other.classify(TEXTS[0]))
    assert bert.classify(TEXTS[3])["num_wordpieces_cut"] == (
        other.classify(TEXTS[3])["num_wordpieces_cut"] + 4
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_refuses_zero_rows(engine, all_formats):
    nothing = dict.fromkeys(
        export_formats.ONNX_NAME_OF_INPUT, np.ones([0, 8], np.int32)
    )
    with pytest.raises(ValueError, match="one row"):
        serving.load(all_formats, engine=engine).engine.run(nothing)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_of_a_package_is_an_engine_error(engine, all_formats):
    """Whatever class it has, callers catch it as a ValueError."""
    without_mask = {"input_ids": np.ones([1, 8], np.int32)}
    with pytest.raises(engines.EngineError, match="the model failed on this"):
        serving.load(all_formats, engine=engine).engine.run(without_mask)


@pytest.mark.slow
def test_no_task_needs_tensorflow(export_folders, load_text_model):
    asked = [
        (
            engine,
            method,
            str(export_folders[kind]),
            [field[0] for field in texts],
        )
        for engine in SMALL
        for method, (kind, texts) in REQUESTS.items()
        if engine == "litert" or method == "classify"
    ]
    script = """
import json, serving

for engine, method, folder, fields in json.loads(sys.argv[1]):
    bert = serving.load(folder, engine=engine)
    print(json.dumps(getattr(bert, method)(*fields)))
"""
    result = run_predict(script, json.dumps(asked)).splitlines()
    for line, (_, method, _, fields) in zip(result, asked, strict=True):
        expected = getattr(load_text_model(REQUESTS[method][0]), method)(
            *fields
        )
        assert_same(json.loads(line), expected)
