"""Strings become the inputs of models, in Keras and in tf.data.

data/text/preprocessor.py makes them. data/text/text_lists.py takes their
strings from any container, and imports/registration.py lets Keras load what it
saved of them.
"""

import importlib.util
import json
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from data import text as data_text
from data.text import BertTextClassifierPreprocessor, FullTokenizer
from serving.text_tasks.prepared_model import PreparedModel
from serving.text_tasks.tokenize import TOKENIZE
from tests.support import fresh_process
from tests.support.paths import SAMPLES
from tests.support.tokenizers.preprocessor_cases import (
    LENGTH,
    NAMES,
    SECONDS,
    TEXTS,
    assert_same,
    expected,
)
from tests.support.tokenizers.tokenizer_cases import random_strings
from tests.support.waiting import TIMEOUT


@pytest.fixture
def classifier():
    """A classifier of three classes, with new weights."""
    config = modeling.BertConfig(
        vocab_size=len(FullTokenizer(SAMPLES / "vocab.txt").tokens),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return modeling.BertClassifier(config, num_labels=3, seed=1)


# {name of a container: function that puts a list of texts into it}
CONTAINERS = {
    "list": lambda texts: texts,
    "bytes": lambda texts: [text.encode() for text in texts],
    "array": np.array,
    "objects": lambda texts: np.array(texts, object),
    "column": lambda texts: tf.constant(texts)[:, None],
    "tensor": tf.constant,
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_texts_in_any_container_become_the_same_features(
    kind, preprocessor, sample_tokenizer
):
    texts = CONTAINERS[kind](TEXTS)
    assert_same(preprocessor(texts), expected(sample_tokenizer, TEXTS))


@pytest.mark.parametrize("kind", CONTAINERS)
def test_pairs_in_any_container_become_the_same_features(
    kind, preprocessor, sample_tokenizer
):
    pair = (CONTAINERS[kind](TEXTS), CONTAINERS[kind](SECONDS))
    assert_same(preprocessor(pair), expected(sample_tokenizer, TEXTS, SECONDS))


def test_one_text_becomes_a_batch_of_one(preprocessor, sample_tokenizer):
    assert_same(preprocessor(TEXTS[0]), expected(sample_tokenizer, TEXTS[0]))


def test_one_pair_becomes_a_batch_of_one(preprocessor, sample_tokenizer):
    pairs = expected(sample_tokenizer, TEXTS, SECONDS)
    first_pair = {name: values[:1] for name, values in pairs.items()}
    assert_same(preprocessor((TEXTS[0], SECONDS[0])), first_pair)


def test_wordpieces_are_those_that_predict_shows(sample_tokenizer):
    """predict.py --task=tokenize shows the same WordPieces of nasty texts."""
    preprocessor = BertTextClassifierPreprocessor(sample_tokenizer, 24)
    prepared_model = PreparedModel(
        engine=None,  # The task runs no network.
        tokenizer=sample_tokenizer,
        max_seq_length=24,
        needs_padding=False,
        settings={},
    )
    texts, seconds = (random_strings(1500, seed=seed) for seed in (7, 8))
    actual = preprocessor((texts, seconds))
    ids, mask = (np.array(actual[name]) for name in NAMES[:2])
    for row, (first, second) in enumerate(zip(texts, seconds, strict=True)):
        request = {"text_a": first, "text_b": second}
        _, reply = TOKENIZE.encode(prepared_model, request)
        real = ids[row][mask[row] > 0]
        assert sample_tokenizer.convert_ids_to_tokens(real) == reply["tokens"]


@pytest.mark.parametrize("length", [3, 5, 8, 40])
def test_a_waterfall_cuts_the_second_text_first(length, sample_tokenizer):
    first, second = map(sample_tokenizer.tokenize, TEXTS[:2])
    preprocessor = BertTextClassifierPreprocessor(
        sample_tokenizer, length, truncate="waterfall"
    )
    ids = preprocessor((TEXTS[0], TEXTS[1]))["input_ids"][0].numpy()
    first = first[: length - 3]
    tokens = ["[CLS]", *first, "[SEP]"]
    tokens += [*second[: length - 3 - len(first)], "[SEP]"]
    words = sample_tokenizer.convert_ids_to_tokens(ids)
    assert words[: len(tokens)] == tokens


def test_an_unknown_way_to_truncate_is_refused(sample_tokenizer):
    with pytest.raises(ValueError, match="'round_robin' or 'waterfall'"):
        BertTextClassifierPreprocessor(sample_tokenizer, truncate="first")


@pytest.mark.parametrize(
    "texts, message",
    [
        (tf.data.Dataset.from_tensor_slices(TEXTS), "use dataset.map"),
        ({"a": TEXTS, "b": SECONDS}, r"Pass the texts .* pair as"),
        (np.arange(3), "must be strings"),
        (tf.range(3), "received int32"),
        (["a", None], "received NoneType"),
        (tf.constant([["a", "b"]]), "a pair as a tuple"),
        ([["a", "b"]], "received list.*as two lists"),
        (np.array([["a", "b"]]), "as two lists"),
    ],
)
def test_a_value_that_is_no_texts_is_refused(preprocessor, texts, message):
    with pytest.raises(TypeError, match=message) as caught:
        preprocessor(texts)
    # Whoever calls the layer knows it.
    assert "BertTextClassifierPreprocessor" not in str(caught.value)


def test_features_instead_of_texts_are_refused(preprocessor):
    with pytest.raises(TypeError, match=r"received dict .*'input_ids'"):
        preprocessor(preprocessor(TEXTS))


def test_a_pair_has_as_many_second_texts(preprocessor):
    with pytest.raises(ValueError, match=r"differ in shape: \(3,\) and \(2,\)"):
        preprocessor((TEXTS, SECONDS[:2]))


def test_a_tuple_is_a_pair(preprocessor):
    with pytest.raises(ValueError, match="received 3 elements"):
        preprocessor(tuple(TEXTS))


@pytest.mark.parametrize("length", [2, 0, -1, 12.5, "12", None])
def test_a_length_without_room_for_a_word_is_refused(sample_tokenizer, length):
    message = f"a whole number from 3, .*received {length!r}"
    with pytest.raises(ValueError, match=message):
        BertTextClassifierPreprocessor(sample_tokenizer, length)


@pytest.mark.parametrize("tokenizer", ["vocab.txt", None, modeling])
def test_a_value_that_is_no_tokenizer_is_refused(tokenizer):
    name = type(tokenizer).__name__
    message = f"must be a FullTokenizer; received {name}. .*from_preset"
    with pytest.raises(TypeError, match=message):
        BertTextClassifierPreprocessor(tokenizer)


def test_many_texts_are_tokenized_in_parts(preprocessor, monkeypatch):
    texts = random_strings(50, seed=9)
    whole = preprocessor((texts, texts[::-1]))
    monkeypatch.setattr("data.text.preprocessor._MAX_ROWS_AT_ONCE", 8)
    assert_same(preprocessor((texts, texts[::-1])), whole)


@pytest.fixture
def folder(tmp_path, classifier):
    """A folder with weights and a vocabulary."""
    classifier.build()
    modeling.save_huggingface(classifier, tmp_path)
    (tmp_path / "vocab.txt").write_bytes((SAMPLES / "vocab.txt").read_bytes())
    return tmp_path


def state(folder, **settings):
    """Writes what a folder states about its tokenizer."""
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


@pytest.mark.parametrize("do_lower_case", [False, True])
def test_from_preset_reads_the_casing(folder, do_lower_case):
    state(folder, do_lower_case=do_lower_case)
    preprocessor = BertTextClassifierPreprocessor.from_preset(folder)
    assert preprocessor.tokenizer.do_lower_case == do_lower_case


@pytest.mark.parametrize(
    ("settings", "length"), [({}, 32), ({"model_max_length": 20}, 20)]
)
def test_from_preset_reads_the_length(folder, settings, length):
    """The network's, if the folder states none."""
    state(folder, do_lower_case=True, **settings)
    preprocessor = BertTextClassifierPreprocessor.from_preset(folder)
    assert preprocessor.sequence_length == length


def test_from_preset_takes_options(folder):
    state(folder, do_lower_case=True)
    preprocessor = BertTextClassifierPreprocessor.from_preset(
        folder, special_tokens_in_strings=True, name="text"
    )
    assert preprocessor.name == "text"
    ids = preprocessor("[MASK]")["input_ids"][0].numpy()
    assert ids[1] == preprocessor.tokenizer.id_of("[MASK]")


def test_a_preprocessor_comes_back_from_its_config(folder):
    state(folder, do_lower_case=True, model_max_length=20)
    preprocessor = BertTextClassifierPreprocessor.from_preset(
        folder, special_tokens_in_strings=True, name="text"
    )
    config = json.loads(json.dumps(preprocessor.get_config()))
    again = BertTextClassifierPreprocessor.from_config(config)
    assert again.get_config() == preprocessor.get_config()
    assert_same(again(["a [MASK]"]), preprocessor(["a [MASK]"]))


def test_a_model_is_fitted_on_strings(
    preprocessor, sample_tokenizer, classifier
):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    classifier.compile("sgd", loss, jit_compile=False)
    labels = np.arange(3)
    inputs = expected(sample_tokenizer, TEXTS)
    right = classifier.evaluate(inputs, labels, verbose=0)
    scores = classifier.evaluate(preprocessor(TEXTS), labels, verbose=0)
    assert scores == pytest.approx(right, rel=1e-6)
    kernel = classifier.head.get_weights()[0]
    classifier.fit(preprocessor(TEXTS), labels, verbose=0)
    assert (classifier.head.get_weights()[0] != kernel).any()
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, labels)).batch(2)
    classifier.fit(dataset.map(preprocessor), verbose=0)
    assert classifier.predict(preprocessor("A boat."), verbose=0).shape == (
        1,
        3,
    )


def end_to_end(preprocessor, classifier, num_texts):
    """A model from strings to probabilities."""
    texts = [keras.Input((), dtype="string") for _ in range(num_texts)]
    features = preprocessor(texts[0] if num_texts == 1 else tuple(texts))
    assert features["input_ids"].shape == (None, LENGTH)
    outputs = keras.layers.Softmax()(classifier(features))
    return keras.Model(texts if num_texts > 1 else texts[0], outputs)


@pytest.fixture(params=[1, 2], ids=["single", "pair"])
def segments(request):
    """Strings of single texts, or those of pairs."""
    return [TEXTS, SECONDS][: request.param]


@pytest.fixture
def inputs(segments):
    """The strings as an input of Keras."""
    tensors = [tf.constant(segment) for segment in segments]
    return tensors if len(tensors) > 1 else tensors[0]


@pytest.fixture
def model(preprocessor, classifier, segments):
    """A model that reads strings."""
    return end_to_end(preprocessor, classifier, len(segments))


@pytest.fixture
def probabilities(sample_tokenizer, classifier, segments):
    """What the classifier computes of the same texts."""
    second = segments[1] if len(segments) > 1 else None
    inputs = expected(sample_tokenizer, TEXTS, second)
    return keras.ops.softmax(classifier(inputs))


def test_a_model_over_strings_predicts_as_its_classifier(
    model, inputs, probabilities
):
    np.testing.assert_allclose(model(inputs), probabilities, atol=1e-6)
    predicted = model.predict(inputs, verbose=0)
    np.testing.assert_allclose(predicted, probabilities, atol=1e-6)


def test_a_model_over_strings_is_saved_and_loaded(
    model, inputs, probabilities, tmp_path
):
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(inputs), probabilities, atol=1e-6)


# For a process that imports TensorFlow alone, as TensorFlow Serving has only
# the operations of TensorFlow, and no Python.
SERVE = """
import sys
import numpy as np, tensorflow as tf
folder, texts = sys.argv[1], eval(sys.argv[2])
serve = tf.saved_model.load(folder).signatures["serving_default"]
names = serve.structured_input_signature[1]
outputs = serve(**dict(zip(sorted(names), map(tf.constant, texts))))
assert not {"data", "modeling"} & {*sys.modules}
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel
with open(folder + "/saved_model.pb", "rb") as file:
    (graph,) = SavedModel.FromString(file.read()).meta_graphs
functions = graph.graph_def.library.function
used = {node.op for function in functions for node in function.node_def}
assert "PyFunc" not in used and "EagerPyFunc" not in used
print(next(iter(outputs.values())).numpy().tolist())
"""


def test_a_trained_model_over_strings_is_served_by_tensorflow_alone(
    model, inputs, segments, tmp_path
):
    model.compile(
        "adam", keras.losses.SparseCategoricalCrossentropy(), metrics=["acc"]
    )
    model.fit(inputs, np.arange(3), verbose=0)
    predicted = model.predict(inputs, verbose=0)
    model.export(tmp_path / "export", verbose=False)
    done = subprocess.run(
        [sys.executable, "-c", SERVE, tmp_path / "export", repr(segments)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(eval(done.stdout), predicted, atol=1e-5)


@pytest.mark.parametrize(
    "imports",
    [
        "import keras, data.text",
        "import data.text, keras",
        "import keras, modeling",
        "import modeling, keras",
    ],
)
def test_keras_loads_a_model_in_a_new_process(
    imports, preprocessor, classifier, tmp_path
):
    model = end_to_end(preprocessor, classifier, 1)
    model.save(file := tmp_path / "model.keras")
    code = f"{imports}; model = keras.models.load_model({str(file)!r}); "
    code += "print(model.count_params())"
    output = fresh_process.run("-c", code).check().stdout
    assert int(output) == model.count_params()


def test_importing_the_package_is_quick():
    code = "import sys, data.text; print({'keras', 'tensorflow', 'numpy'} & "
    code += "{*sys.modules})"
    assert fresh_process.run("-c", code).check().stdout.strip() == "set()"
    assert "BertTextClassifierPreprocessor" in data_text.__all__


ON_ANOTHER_BACKEND = """
import keras, numpy as np, tensorflow as tf, modeling
from data.text import BertTextClassifierPreprocessor, FullTokenizer
tokenizer = FullTokenizer("examples/samples/vocab.txt")
preprocessor = BertTextClassifierPreprocessor(tokenizer, 12)
texts = ["The boat left at noon.", "It rains."]
dataset = tf.data.Dataset.from_tensor_slices((texts, [0, 1]))
dataset = dataset.batch(2).map(preprocessor)
features, _ = next(iter(dataset))
right = tokenizer(texts)["input_ids"]
assert (features["input_ids"].numpy()[:, : right.shape[1]] == right).all()
config = modeling.BertConfig(vocab_size=1600, hidden_size=16,
    num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
model = modeling.BertClassifier(config, num_labels=2)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(True))
model.fit(dataset, verbose=0)
try:
    preprocessor(texts)
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_backends_map_a_dataset(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    done = fresh_process.run("-c", ON_ANOTHER_BACKEND, KERAS_BACKEND=backend)
    output = done.check().stdout
    assert f"Keras on {backend} holds no strings" in output
    assert "dataset.map(preprocessor)" in output
