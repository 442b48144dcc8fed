"""Models of Keras that read strings are fitted, saved and exported."""

import importlib.util
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.support import fresh_process
from tests.support.tokenizers.preprocessor_cases import (
    LENGTH,
    SECONDS,
    TEXTS,
    expected,
)
from tests.support.waiting import TIMEOUT

# A label for each of TEXTS.
LABELS = np.arange(3)


@pytest.fixture
def compiled_classifier(classifier):
    """The classifier, ready to be fitted on labels."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    classifier.compile("sgd", loss, jit_compile=False)
    return classifier


def test_strings_have_the_loss_of_their_features(
    compiled_classifier, preprocessor, sample_tokenizer
):
    features = expected(sample_tokenizer, TEXTS)
    right = compiled_classifier.evaluate(features, LABELS, verbose=0)
    loss = compiled_classifier.evaluate(preprocessor(TEXTS), LABELS, verbose=0)
    assert loss == pytest.approx(right, rel=1e-6)


def test_a_classifier_is_fitted_on_strings(compiled_classifier, preprocessor):
    before = compiled_classifier.head.get_weights()[0]
    compiled_classifier.fit(preprocessor(TEXTS), LABELS, verbose=0)
    assert (compiled_classifier.head.get_weights()[0] != before).any()


def test_a_classifier_is_fitted_on_a_dataset_of_strings(
    compiled_classifier, preprocessor
):
    before = compiled_classifier.head.get_weights()[0]
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS)).batch(2)
    compiled_classifier.fit(dataset.map(preprocessor), verbose=0)
    assert (compiled_classifier.head.get_weights()[0] != before).any()


def test_one_string_has_the_logits_of_each_class(classifier, preprocessor):
    logits = classifier.predict(preprocessor("A boat."), verbose=0)
    assert logits.shape == (1, 3)


def create_model_over_strings(preprocessor, classifier, num_texts):
    """Returns a model from strings to probabilities."""
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
    return create_model_over_strings(preprocessor, classifier, len(segments))


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
    model.fit(inputs, LABELS, verbose=0)
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
    model = create_model_over_strings(preprocessor, classifier, 1)
    model.save(file := tmp_path / "model.keras")
    code = f"{imports}; model = keras.models.load_model({str(file)!r}); "
    code += "print(model.count_params())"
    output = fresh_process.run("-c", code).check().stdout
    assert int(output) == model.count_params()


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
