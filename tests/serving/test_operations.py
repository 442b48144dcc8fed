"""SavedModels are programs: only operations that exports use are loaded."""

import dataclasses
import itertools
import json
import shutil

import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

import modeling
import serving
from modeling import ops
from serving import classifier, pretraining, squad
from serving.engines import saved_model
from serving.signatures import ServingOptions
from tests import script_runner
from tests.golden import ROOT
from tests.serving.conftest import (
    DECODING,
    LABELS,
    LENGTH,
    TOKENIZER,
    WINDOWS,
    create_model,
)
from tests.serving.test_export import CONFIG, create_classifier, write


def write_all(folder):
    """Exports the kinds that the fixture `exports` does not."""
    options = ServingOptions(TOKENIZER, LENGTH)
    for mode in ("multilabel", "regression"):
        labels = None if mode == "regression" else LABELS
        model = create_model(modeling.BertClassifier, len(labels or "1"))
        classifier.export_classifier(
            folder / mode,
            model,
            labels,
            options,
            mode,
            doc_stride=9,
        )
    squad.export_span_labeler(
        folder / "characters",
        create_model(modeling.BertSpanLabeler),
        TOKENIZER,
        dataclasses.replace(WINDOWS, use_char_offsets=True),
        DECODING,
    )
    model = create_model(modeling.BertPretrainer)
    pretraining.export_pretrainer(folder / "ids", model)
    networks = {
        "relu": {"dtype": "mixed_float16", "bilstm": True},
        "gelu_erf": {"dtype": "mixed_bfloat16", "left_to_right": True},
        **{name: {} for name in ("linear", "mish", "sigmoid", "silu", "tanh")},
    }
    assert {*networks, "gelu"} == {*ops.ACTIVATIONS}
    for name, kwargs in networks.items():
        config = dataclasses.replace(CONFIG, hidden_act=name)
        model = create_classifier(config=config, **kwargs)
        model.build_once()
        write(folder / name, model)
        # As on a GPU, or without oneDNN.
        with ops.plain():
            write(folder / f"{name} plain", model)


@pytest.mark.slow
def test_the_list_has_what_exports_use(export_folder, tmp_path):
    write_all(tmp_path)
    used = set()
    for folder in (export_folder, tmp_path):
        for path in folder.glob("*/saved_model.pb"):
            used |= saved_model.find_operations(path.read_bytes())[1]
    assert not used - saved_model.ALLOWED


def test_earlier_exports_in_int8_never_answer_wrongly():
    for allow_any_operation in (False, True):
        with pytest.raises(
            OSError, match="export the model again with --quant"
        ):
            saved_model.check_operations(
                {"_QuantizedMatMul"}, "x", allow_any_operation
            )


def test_tensorflow_serving_has_all_that_exports_use(export_folder):
    """Its 2.20 knows each operation, and each attribute of it.

    The file has a line for each operation: its name, then its attributes, in
    TensorFlow 2.20's TF_GetAllOpList.
    """
    path = ROOT / "tests/testdata/tensorflow_2_20_operations.txt"
    known = {}
    for line in path.read_text().splitlines():
        name, *attributes = line.split()
        known[name] = {*attributes}
    assert known.keys() >= saved_model.ALLOWED
    num_nodes = 0
    for path in export_folder.glob("*/saved_model.pb"):
        graph = (
            SavedModel.FromString(path.read_bytes()).meta_graphs[0].graph_def
        )
        functions = [function.node_def for function in graph.library.function]
        for node in itertools.chain(graph.node, *functions):
            public = {name for name in node.attr if not name.startswith("_")}
            assert public <= known[node.op], node.name
            num_nodes += 1
    assert num_nodes > 1000


def write_file(text):
    written = tf.io.write_file("written", text[0])
    with tf.control_dependencies([written]):
        return tf.identity(text)


def read_file(text):
    return tf.map_fn(tf.io.read_file, text)


def save_weights(text):
    saved = tf.raw_ops.SaveV2(
        prefix="written",
        tensor_names=["x"],
        shape_and_slices=[""],
        tensors=[tf.zeros(3)],
    )
    with tf.control_dependencies([saved]):
        return tf.identity(text)


def py_function(text):
    return tf.py_function(lambda x: x, [text], tf.string)


def branch(text):
    """Only one branch of a condition inside a loop does it."""
    return tf.map_fn(
        lambda one: tf.cond(
            tf.size(one) > 5, lambda: tf.io.read_file(one), lambda: one
        ),
        text,
    )


PROGRAMS = {
    "WriteFile": write_file,
    "ReadFile": read_file,
    "SaveV2": save_weights,
    "EagerPyFunc": py_function,
    "ReadFile in a branch": branch,
}


def save(folder, function, resource=None):
    """Saves a function of texts, which passes for a classifier."""
    program = tf.Module()
    program.resource = resource
    program.classify = tf.function(
        lambda text_a: {"label": function(text_a)},
        [tf.TensorSpec([None], tf.string, "text_a")],
        autograph=False,
    )
    tf.saved_model.save(program, folder, {"classify": program.classify})


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("program", PROGRAMS[name])
    with pytest.raises(ValueError) as refused:
        serving.load("program")
    (line,) = str(refused.value).splitlines()
    assert line.startswith("program uses operations that")
    assert name.split()[0] in line and "--allow_any_operation" in line
    assert not (tmp_path / "written").exists()
    model = serving.load("program", allow_any_operation=True)
    assert "classify" in model.engine.signatures


def test_a_program_that_runs_while_it_loads_is_refused(tmp_path, monkeypatch):
    """A table is filled when it is loaded; so is a graph without functions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words").write_text("a\nb\n")
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            *("words", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE),
            *(tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER),
        ),
        0,
    )
    save("table", lambda text: tf.as_string(table.lookup(text)), table)
    with pytest.raises(ValueError, match="HashTableV2, InitializeTable"):
        serving.load("table")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        builder = tf.compat.v1.saved_model.Builder("graph")
        builder.add_meta_graph_and_variables(
            session, ["serve"], main_op=tf.io.write_file("written", "a")
        )
        builder.save()
    with pytest.raises(ValueError, match="do not: WriteFile. They may"):
        serving.load("graph")
    assert not (tmp_path / "written").exists()


def use_in_a_call(graph, saver):
    """A function calls the saver."""
    for function in graph.graph_def.library.function:
        for node in function.node_def:
            if node.op.endswith("PartitionedCall"):
                node.attr["f"].func.name = saver
                return


def use_as_an_object(graph, saver):
    graph.object_graph_def.concrete_functions[saver].Clear()


def use_by_a_node(graph, saver):
    node = graph.graph_def.node.add(name="more", op="StatefulPartitionedCall")
    node.attr["f"].func.name = saver


def use_by_an_operation(graph, saver):
    """TensorFlow calls a function for a node of the function's name."""
    for node in graph.graph_def.node:
        if node.op == "StatefulPartitionedCall":
            called = node.attr["f"].func
            called.name = called.name.replace(saver, "Softmax")
    for function in graph.graph_def.library.function:
        if function.signature.name == saver:
            function.signature.name = "Softmax"


def use_as_a_graph(graph, saver):
    """TensorFlow then makes the signatures of the nodes themselves."""
    graph.ClearField("object_graph_def")


@pytest.mark.parametrize(
    "use",
    [
        use_in_a_call,
        use_as_an_object,
        use_by_a_node,
        use_by_an_operation,
        use_as_a_graph,
    ],
)
def test_signatures_cannot_use_the_saver(use, export_folder, tmp_path):
    shutil.copytree(export_folder / "multiple_choice", tmp_path / "model")
    path = tmp_path / "model/saved_model.pb"
    saved = SavedModel.FromString(path.read_bytes())
    (graph,) = saved.meta_graphs
    name = graph.saver_def.save_tensor_name.split(":")[0]
    (node,) = [node for node in graph.graph_def.node if node.name == name]
    use(graph, node.attr["f"].func.name)
    path.write_bytes(saved.SerializeToString())
    with pytest.raises(ValueError, match="MergeV2Checkpoints"):
        serving.load(tmp_path / "model")


@pytest.mark.slow
def test_commands_refuse_a_program(tmp_path):
    save(str(tmp_path / "program"), write_file)
    request = json.dumps({"text": "a"})
    (tmp_path / "in").write_text(request)
    flags = {"model": "program", "input_file": "in"}
    done = script_runner.run("predict.py", tmp_path, **flags)
    assert "WriteFile" in done.error and "--allow_any_op" in done.error
    assert not (tmp_path / "written").exists()
    flags["allow_any_operation"] = True
    done = script_runner.run("predict.py", tmp_path, **flags)
    assert "program accepts no text: it contains no model.json" in done.error
    pytest.importorskip("starlette", reason="needs requirements/serve.txt")
    done = script_runner.run("serve.py", tmp_path, model="program", port=0)
    assert "WriteFile" in done.error and "--allow_any_op" in done.error
    assert not (tmp_path / "written").exists()
