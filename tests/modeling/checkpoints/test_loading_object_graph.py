"""Checkpoints and SavedModels of Model Garden, which TF-Hub published."""

import os
import re
import shutil

import h5py
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import (
    TrackableObjectGraph,
)

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.reading import preset_reading
from tests.support.checkpoints import convert
from tests.support.paths import ROOT

WEIGHTS = ROOT / "tests/testdata/weights/modelgarden"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
ENDING = "/.ATTRIBUTES/VARIABLE_VALUE"
NEXT_SENTENCE = "bert/next_sentence/"


@pytest.fixture
def checkpoint(tmp_path):
    """A copy of a recorded checkpoint."""
    return shutil.copytree(WEIGHTS / "v1_items", tmp_path / "checkpoint")


@pytest.fixture
def saved_model(tmp_path):
    """A copy of a recorded encoder of TF-Hub."""
    folder = shutil.copytree(WEIGHTS / "hub_v2_mlm", tmp_path / "saved_model")
    # Nothing reads or runs this file.
    (folder / "saved_model.pb").write_bytes(b"no SavedModel")
    return folder


def read_checkpoint(prefix):
    """Returns ({key: value}, graph) of an object-based checkpoint."""
    reader = tf.train.load_checkpoint(str(prefix))
    keys = reader.get_variable_to_shape_map().keys() - {GRAPH}
    graph = TrackableObjectGraph.FromString(reader.get_tensor(GRAPH))
    return {key: reader.get_tensor(key) for key in keys}, graph


def write_checkpoint(prefix, values, graph):
    if isinstance(graph, TrackableObjectGraph):
        graph = graph.SerializeToString()
    values = {**values, GRAPH: graph}
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=[*values],
        shape_and_slices=[""] * len(values),
        tensors=[*values.values()],
    )


def add_variable(values, graph, name, key, value):
    """Adds a variable to the values and the graph of a checkpoint."""
    values[key + ENDING] = value
    graph.nodes.add().attributes.add(
        name="VARIABLE_VALUE", full_name=name, checkpoint_key=key + ENDING
    )


def list_attributes(graph):
    """Returns the attributes of all nodes, one for each stored variable."""
    return [value for node in graph.nodes for value in node.attributes]


def checkpoint_prefix(folder):
    """Returns the prefix of the files of a checkpoint or SavedModel."""
    if (folder / "variables").is_dir():
        return folder / "variables/variables"
    return folder / "bert_model.ckpt-1"


def assert_outputs_recorded(folder, recorded):
    """Asserts that a model computes the outputs that its library computed."""
    arrays = np.load(WEIGHTS / "in.npz")
    expected = np.load(WEIGHTS / recorded)
    features = {
        "input_ids": arrays["ids"],
        "input_mask": arrays["mask"],
        "segment_ids": arrays["seg"],
    }
    encoded = modeling.BertModel.from_preset(folder)(features)
    features["masked_lm_positions"] = np.tile([[1, 3, 5]], (4, 1))
    pretrainer = modeling.BertPretrainer.from_preset(folder)
    blocks = encoded["all_encoder_layers"]
    outputs = {
        "seq": encoded["sequence_output"],
        "pool": encoded["pooled_output"],
        "mlm": pretrainer(features)["masked_lm_logits"],
        **{f"enc{index}": block for index, block in enumerate(blocks)},
    }
    assert outputs.keys() == {*expected} - {"nsp"}
    for name, value in outputs.items():
        np.testing.assert_allclose(value, expected[name], atol=1e-5)


def test_checkpoint_items_give_the_recorded_outputs(checkpoint):
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    assert_outputs_recorded(checkpoint / "bert_model.ckpt-1", "out_v1.npz")
    tokenizer = FullTokenizer.from_preset(checkpoint)
    assert tokenizer.do_lower_case
    assert len(tokenizer.tokens) == 1600


def test_a_saved_model_gives_the_recorded_outputs(saved_model):
    assert_outputs_recorded(saved_model, "out_v2.npz")
    preset = preset_reading.read_preset(saved_model)
    stated = modeling.load_config(WEIGHTS / "v1_items").to_dict()
    derived = preset.load_config().to_dict()
    assert derived | {"initializer_range": 0.2} == stated
    assert modeling.load_config(saved_model).to_dict() == derived
    assert preset.vocab_file == str(saved_model / "assets/vocab.txt")


@pytest.mark.parametrize("casing", [False, True, None])
def test_a_saved_model_states_its_casing(saved_model, casing):
    values, graph = read_checkpoint(checkpoint_prefix(saved_model))
    values[f"do_lower_case{ENDING}"] = 5 if casing is None else casing
    write_checkpoint(checkpoint_prefix(saved_model), values, graph)
    assert preset_reading.read_preset(saved_model).do_lower_case is casing
    if casing is not None:
        tokenizer = FullTokenizer.from_preset(saved_model)
        assert tokenizer.do_lower_case is casing


@pytest.mark.parametrize("place", ["model.json", "assets.extra/model.json"])
def test_an_export_of_this_project_is_no_start(saved_model, place):
    (saved_model / "assets.extra").mkdir()
    (saved_model / place).write_text('{"version": 1}')
    with pytest.raises(ValueError, match="is an export"):
        modeling.find_checkpoint(saved_model)
    assert preset_reading.read_preset(saved_model).config_file is None


def test_a_folder_without_names_is_read_by_its_keys(checkpoint):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    for value in list_attributes(graph):
        value.full_name = ""
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    assert_outputs_recorded(checkpoint, "out_v1.npz")


def test_the_state_of_a_trainer_is_left_out(checkpoint):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    weights = [
        attribute for attribute in list_attributes(graph) if attribute.full_name
    ]
    for number, weight in enumerate(weights):
        slot = np.zeros_like(values[weight.checkpoint_key])
        former = weight.checkpoint_key.removesuffix(ENDING)
        for name, key in (
            (f"{weight.full_name}/m", f"{former}/.OPTIMIZER_SLOT/optimizer/m"),
            (f"Adam/v/{weight.full_name}", f"opt/_variables/{number}"),
        ):
            add_variable(values, graph, name, key, slot)
    add_variable(values, graph, "Adam/rate", "optimizer/rate", np.float32(1))
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    model = modeling.BertPretrainer.from_preset(checkpoint)
    assert not modeling.load_checkpoint(model, checkpoint).unused


def test_each_head_gets_its_own_pooler(checkpoint, caplog):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    logits = np.random.default_rng(1).normal(size=(32, 2)).astype("float32")
    bias = np.array([1, 2], "float32")
    for name, value in (("kernel", logits), ("bias", bias)):
        full_name = f"{NEXT_SENTENCE}logits/{name}"
        add_variable(values, graph, full_name, f"model/logits/{name}", value)
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    caplog.set_level("INFO")
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    assert "the encoder's pooler" in caplog.text
    assert "the pooler of the head for next sentences" in caplog.text

    pooler = {
        name: values[f"next_sentence..pooler_dense/{name}{ENDING}"]
        for name in ("kernel", "bias")
    }
    first = np.load(WEIGHTS / "out_v1.npz")["seq"][:, 0]
    pooled = np.tanh(first @ pooler["kernel"] + pooler["bias"])
    arrays = np.load(WEIGHTS / "in.npz")
    model = modeling.BertPretrainer.from_preset(checkpoint)
    next_sentence = model(
        {
            "input_ids": arrays["ids"],
            "input_mask": arrays["mask"],
            "segment_ids": arrays["seg"],
            "masked_lm_positions": np.tile([[1, 3, 5]], (4, 1)),
        }
    )["next_sentence_logits"]
    np.testing.assert_allclose(next_sentence, pooled @ logits + bias, atol=1e-5)


# Patterns of Google's names, and their replacements in transformers 4.
TRANSFORMERS_NAMES = (
    ("/layer_", "/layer_._"),
    (r"(position|token_type)_embeddings$", r"\g<0>/embeddings"),
    (r"^cls/squad/output_weights", "qa_outputs/kernel"),
    (r"^cls/squad/output_bias", "qa_outputs/bias"),
    (r"^cls/(?=predictions)", "mlm___cls/"),
    (r"^cls/(?=seq)", "nsp___cls/"),
    (r"predictions/output_bias$", "predictions/bias"),
    (r"relationship/output_weights$", "relationship/kernel"),
    (r"relationship/output_bias$", "relationship/bias"),
    ("^output_weights", "classifier/kernel"),
    ("^output_bias", "classifier/bias"),
)


def transformers_name(name, scope):
    """Returns the name in `save_weights` of transformers 4 for Google's."""
    # The releases of 2019 call the matrix of the words `weight`.
    word = "embeddings" if "sequence" in scope else "weight"
    name = re.sub("(?<=word_embeddings)$", f"/{word}", name)
    for pattern, replacement in TRANSFORMERS_NAMES:
        name = re.sub(pattern, replacement, name)
    if scope == "tf_bert_for_masked_lm/":
        name = name.replace("mlm___", "")
    return f"{scope}{name}"


SEEDS = "seed"
CLASSIFIER = {"num_labels": 3}


@pytest.mark.parametrize(
    ("head", "options", "scope", "omitted"),
    [
        ("BertModel", {}, "", SEEDS),
        ("BertModel", {}, "tf_bert_model/", SEEDS),
        (
            "BertClassifier",
            CLASSIFIER,
            "tf_bert_for_sequence_classification/",
            SEEDS,
        ),
        (
            "BertTokenClassifier",
            CLASSIFIER,
            "tf_bert_for_token_classification/",
            SEEDS,
        ),
        ("BertSpanLabeler", {}, "tf_bert_for_question_answering/", SEEDS),
        ("BertPretrainer", {}, "tf_bert_for_pre_training/", SEEDS),
        (
            "BertPretrainer",
            {},
            "tf_bert_for_masked_lm/",
            f"{SEEDS}|pooler|seq_relationship",
        ),
        (
            "BertPretrainer",
            {},
            "tf_bert_for_next_sentence_prediction/",
            f"{SEEDS}|predictions",
        ),
    ],
)
def test_weights_of_transformers_are_loaded(
    tmp_path, head, options, scope, omitted
):
    """`omitted` matches the names of weights that the file lacks."""
    config = modeling.load_config(WEIGHTS / "v1_items")
    saved = getattr(modeling, head)(config, **options)
    saved.build()
    named = modeling.named_variables(saved)
    names = [name for name in named if not re.search(omitted, name)]
    values, graph = {}, TrackableObjectGraph()
    for name in names:
        value = named[name].numpy()
        value = value.T if name.endswith("output_weights") else value
        add_variable(values, graph, transformers_name(name, scope), name, value)
    write_checkpoint(tmp_path / "weights", values, graph)
    # The head of a classifier has as many labels as its weights.
    model = getattr(modeling, head).from_preset(tmp_path, config=config)
    loaded = modeling.named_variables(model)
    for name in names:
        np.testing.assert_array_equal(loaded[name], named[name])


def test_names_of_2019_in_tf_model_h5_are_read(tmp_path):
    """TFBertModel of 2019 stored the words as `word_embeddings/weight`."""
    config = modeling.load_config(WEIGHTS / "v1_items")
    saved = modeling.BertModel(config)
    saved.build()
    named = modeling.named_variables(saved)
    names = [name for name in named if "seed" not in name]
    with h5py.File(tmp_path / "tf_model.h5", "w") as file:
        for name in names:
            stored = transformers_name(name, "bert/tf_bert_model/")
            file[f"{stored}:0"] = named[name].numpy()
    text = config.to_json_string()
    (tmp_path / "config.json").write_text(text)
    model = modeling.BertModel.from_preset(tmp_path)
    loaded = modeling.named_variables(model)
    for name in names:
        np.testing.assert_array_equal(loaded[name], named[name])


def assert_refused(folder, message, error=ValueError):
    with pytest.raises(error, match=message) as raised:
        modeling.BertModel.from_preset(folder)
    assert "\n" not in str(raised.value)


def test_another_weight_is_named_with_its_shape(checkpoint):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    name = "transformer/layer_0/self_attention/relative\n/kernel"
    add_variable(values, graph, name, "relative", np.zeros((3, 4), "float32"))
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    assert_refused(
        checkpoint, r"relative\\n/kernel' with shape \[3, 4\], which is no"
    )


@pytest.mark.parametrize(
    "name",
    [
        "sentence_prediction/logits/kernel",
        "classifier/predictions/transform/logits/kernel",
        "span_labeling/predictions/transform/logits/kernel",
        "token_classification/logits/kernel",
    ],
)
def test_an_encoder_is_read_without_the_head_of_a_task(
    checkpoint, caplog, name
):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    add_variable(values, graph, name, "head", np.zeros((32, 3), "float32"))
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    assert f"a head that is not read: {name}" in caplog.text
    model = modeling.BertClassifier.from_preset(checkpoint, num_labels=3)
    report = modeling.load_checkpoint(model, checkpoint)
    assert name in report.unused
    assert "output_weights" in report.missing
    with pytest.raises(ValueError, match=f"contains no head .*{name}"):
        modeling.BertClassifier.from_preset(checkpoint)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("word_embeddings/embeddings", "lacks bert/embeddings/word_embeddings"),
        (
            "transformer/layer_1/output/bias",
            "lacks .*layer_1/output/dense/bias",
        ),
        ("pooler_transform/bias", "lacks bert/pooler/dense/bias"),
        (
            "bert/cls/predictions/output_bias/bias",
            "lacks cls/predictions/output_bias",
        ),
    ],
)
def test_a_missing_weight_is_named(checkpoint, name, message):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    (value,) = (
        attribute
        for attribute in list_attributes(graph)
        if attribute.full_name == name
    )
    value.full_name = "renamed"
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    assert_refused(checkpoint, f"{message}.*'renamed' with shape")


def test_names_that_occur_twice_are_refused(checkpoint):
    values, graph = read_checkpoint(checkpoint_prefix(checkpoint))
    zeros = np.zeros((1600, 32), "float32")
    add_variable(values, graph, "b/word_embeddings/embeddings", "other", zeros)
    write_checkpoint(checkpoint_prefix(checkpoint), values, graph)
    assert_refused(checkpoint, "contains several encoders")


def test_another_number_of_heads_is_refused(checkpoint):
    file = checkpoint / "bert_config.json"
    text = file.read_text()
    heads = '"num_attention_heads": '
    file.write_text(text.replace(f"{heads}4", f"{heads}8"))
    assert_refused(
        checkpoint, "has 4 attention heads in .*num_attention_heads is 8"
    )


def test_a_graph_with_an_unknown_key_is_named(checkpoint):
    prefix = checkpoint_prefix(checkpoint)
    values, graph = read_checkpoint(prefix)
    list_attributes(graph)[3].checkpoint_key = "none"
    write_checkpoint(prefix, values, graph)
    assert_refused(
        checkpoint, f"{prefix} cannot be read: 'none' is missing", OSError
    )


def test_a_damaged_graph_is_named(checkpoint):
    prefix = checkpoint_prefix(checkpoint)
    values, _ = read_checkpoint(prefix)
    write_checkpoint(prefix, values, b"\xff\xff")
    assert_refused(checkpoint, f"{prefix} cannot be read: {GRAPH} is", OSError)


def test_a_truncated_file_of_values_is_named(checkpoint):
    prefix = checkpoint_prefix(checkpoint)
    data = prefix.with_name(prefix.name + ".data-00000-of-00001")
    os.truncate(data, 1000)
    assert_refused(
        checkpoint, f"{re.escape(str(prefix))} cannot be read", OSError
    )


@pytest.mark.parametrize("model_format", ["tf1", "huggingface"])
def test_a_copy_in_another_format_computes_the_same(
    saved_model, tmp_path, model_format
):
    convert(saved_model, tmp_path / "copy", output_format=model_format)
    assert_outputs_recorded(tmp_path / "copy", "out_v2.npz")
    assert FullTokenizer.from_preset(tmp_path / "copy").do_lower_case
