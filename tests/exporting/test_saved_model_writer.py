"""SavedModels hold each weight once, and compute what the model does."""

import dataclasses
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

import modeling
from exporting.export_options import ExportOptions
from exporting.export_writer import write_export
from exporting.signatures import ExportSignatures
from tests.support import model_cases
from tests.support.paths import ROOT

CONFIG = dataclasses.replace(model_cases.CONFIG, num_hidden_layers=1)
OTHER = dataclasses.replace(CONFIG, layer_norm_eps=0.1, hidden_act="silu")


def create_classifier(dtype="float32", config=CONFIG, **kwargs):
    return modeling.BertClassifier(config, 5, dtype=dtype, **kwargs)


def with_a_layer_in_float32():
    model = create_classifier("mixed_bfloat16")
    model.build()
    model.bert.pooler.dtype_policy = keras.DTypePolicy("float32")
    return model


# {name: (model, dtype of the kernels that are cast, their number)}: six in
# the block, the pooler's, and two of a BiLSTM.
MODELS = {
    "float32": (lambda: create_classifier("float32"), None, 0),
    "float16": (lambda: create_classifier("mixed_float16"), tf.float16, 7),
    "bfloat16": (
        lambda: create_classifier("mixed_bfloat16", bilstm=True),
        tf.bfloat16,
        9,
    ),
    "epsilon, activation": (lambda: create_classifier(config=OTHER), None, 0),
    "a layer in float32": (with_a_layer_in_float32, tf.bfloat16, 6),
}


def write_model(folder, model):
    """Exports a model over ids; its outputs are float32."""

    def predict(features):
        return {"logits": tf.cast(model(features), tf.float32)}

    write_export(folder, model, ExportSignatures(predict), ExportOptions())
    return predict


@pytest.mark.parametrize("name", MODELS)
def test_each_weight_is_stored_once_in_the_type_of_its_computation(
    name, tmp_path
):
    create, dtype, num_cast = MODELS[name]
    model = create()
    if not model.built:
        model.build()
    predict = write_model(tmp_path / "model", model)
    stored = tf.train.load_checkpoint(
        str(tmp_path / "model/variables/variables")
    )
    dtypes = [*stored.get_variable_to_dtype_map().values()]
    assert dtypes.count(dtype) == num_cast
    assert dtypes.count(tf.float32) == len(model.weights) - num_cast
    features = model_cases.create_inputs("classifier")
    loaded = tf.saved_model.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.signatures["ids"](**features)["logits"],
        tf.function(predict, autograph=False)(features)["logits"],
    )


def test_zero_texts_get_zero_replies(saved_models_folder):
    for path in saved_models_folder.glob("*/saved_model.pb"):
        for signature in tf.saved_model.load(path.parent).signatures.values():
            nothing = {
                name: tf.zeros(
                    [0, *(size or 1 for size in spec.shape[1:])], spec.dtype
                )
                for name, spec in signature.structured_input_signature[
                    1
                ].items()
            }
            assert not any(map(len, signature(**nothing).values())), path


def test_tensorflow_serving_knows_all_operations_of_exports(
    saved_models_folder,
):
    """TensorFlow Serving 2.20 knows each operation and its attributes.

    The file has a line for each operation: its name, then its attributes, in
    TensorFlow 2.20's TF_GetAllOpList.
    """
    path = ROOT / "tests/testdata/tensorflow_2_20_operations.txt"
    lines = map(str.split, path.read_text().splitlines())
    attributes_of = {name: {*attributes} for name, *attributes in lines}
    num_nodes = 0
    for path in saved_models_folder.glob("*/saved_model.pb"):
        saved = SavedModel.FromString(path.read_bytes())
        graph = saved.meta_graphs[0].graph_def
        functions = [function.node_def for function in graph.library.function]
        for node in itertools.chain(graph.node, *functions):
            public = {name for name in node.attr if not name.startswith("_")}
            assert public <= attributes_of[node.op], node.name
            num_nodes += 1
    assert num_nodes > 1000
