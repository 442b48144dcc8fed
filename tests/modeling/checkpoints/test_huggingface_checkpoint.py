"""Hugging Face's format, on files that transformers wrote.

tests/tools/test_convert_checkpoint.py compares what the models compute.
"""

import json

import numpy as np
import pytest
import safetensors.numpy

from modeling import (
    BertConfig,
    BertModel,
    BertPretrainer,
    BertSpanLabeler,
    check_checkpoint,
    find_checkpoint,
    load_checkpoint,
    load_config,
    save_huggingface,
)
from tests.support.checkpoints import assert_same_bits
from tests.support.log_lines import logged_warnings
from tests.support.model_cases import assert_close
from tests.support.weights.huggingface_files import (
    CONFIG,
    NUM_POSITIONS,
    RECORDED,
    write_huggingface_files,
)


def create_tensors(name="BertModel"):
    return safetensors.numpy.load_file(RECORDED / name / "model.safetensors")


@pytest.fixture
def old_names(tmp_path):
    """Folder of weights by the names of old versions of transformers."""
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): value
        for name, value in create_tensors().items()
    }
    renamed["embeddings.position_ids"] = np.arange(NUM_POSITIONS)[None]
    folder = tmp_path / "old_names"
    folder.mkdir()
    return write_huggingface_files(folder, renamed)


def test_old_names_of_weights_are_read(old_names):
    config = load_config(old_names)
    assert config.hidden_act == "gelu_erf"
    report = load_checkpoint(BertModel(config), old_names / "model.safetensors")
    assert not report.missing
    assert not report.unused


def test_weights_are_written_by_their_new_names(old_names, tmp_path):
    model = BertModel(load_config(old_names))
    load_checkpoint(model, old_names)
    save_huggingface(model, tmp_path / "saved")
    written = safetensors.numpy.load_file(tmp_path / "saved/model.safetensors")
    assert_same_bits(written, create_tensors())


def write_shards(folder, places, shards):
    """Writes shards, and an index with this {name: file}. Returns it."""
    for file, tensors in shards.items():
        safetensors.numpy.save_file(tensors, folder / file)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    return index


def test_a_tensor_in_two_shards_is_the_one_that_the_index_names(tmp_path):
    tensors = create_tensors()
    old = {name: value + 1 for name, value in tensors.items()}
    for file, other in ("12", "21"):
        folder = tmp_path / file
        folder.mkdir()
        shards = {f"{file}.safetensors": tensors, f"{other}.safetensors": old}
        # The last tensor is in the other file.
        *names, last = sorted(tensors)
        places = dict.fromkeys(names, f"{file}.safetensors")
        places[last] = f"{other}.safetensors"
        write_shards(folder, places, shards)
        model = BertModel(load_config(folder))
        load_checkpoint(model, folder)
        save_huggingface(model, folder / "back")
        written = safetensors.numpy.load_file(folder / "back/model.safetensors")
        assert_same_bits(written, tensors | {last: old[last]})


def test_a_shard_without_its_tensor_is_named(tmp_path):
    tensors = create_tensors()
    name, *others = tensors
    places = dict.fromkeys(others, "1.safetensors") | {name: "2.safetensors"}
    shards = {
        "1.safetensors": tensors,
        "2.safetensors": {others[0]: tensors[others[0]]},
    }
    write_shards(tmp_path, places, shards)
    with pytest.raises(OSError, match=rf"2.safetensors lacks {name}, which .*"):
        check_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "places",
    [
        None,
        5,
        [1],
        {},
        {"a": 1},
        {"a": None},
        {"a": ["1.safetensors"]},
        {"a": ""},
        {"a": "../1.safetensors"},
        {"a": "/1.safetensors"},
        {"a": "1\0.safetensors"},
        {"a": "1.bin"},
        # An index that lists itself.
        {"a": "model.safetensors.index.json"},
    ],
    ids=str,
)
def test_an_index_of_other_types_is_named(tmp_path, places):
    index = write_shards(tmp_path, places, {})
    with pytest.raises(ValueError, match=f"{index}: `weight_map`") as caught:
        check_checkpoint(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.fixture
def three_shards(tmp_path):
    """The names of the three files that contain the weights in `tmp_path`."""
    tensors = create_tensors()
    names = sorted(tensors)
    shards = {
        f"model-{number + 1:05}-of-00003.safetensors": {
            name: tensors[name] for name in names[number::3]
        }
        for number in range(3)
    }
    places = {name: file for file, part in shards.items() for name in part}
    write_shards(tmp_path, places, shards)
    return [*shards]


@pytest.mark.usefixtures("three_shards")
def test_weights_in_several_files_are_those_of_one_file(tmp_path):
    model, expected = (BertModel(load_config(tmp_path)) for _ in range(2))
    report = load_checkpoint(model, tmp_path)
    assert not report.missing
    assert not report.unused
    load_checkpoint(expected, RECORDED / "BertModel")
    assert_close(model.weights, expected.weights, 0)


@pytest.mark.usefixtures("three_shards")
def test_weights_in_several_files_are_found_by_their_index(tmp_path):
    index = str(tmp_path / "model.safetensors.index.json")
    assert find_checkpoint(tmp_path) == index


def test_a_missing_file_of_several_is_named(three_shards, tmp_path):
    (tmp_path / three_shards[-1]).unlink()
    with pytest.raises(OSError, match=three_shards[-1]):
        check_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "scope", ["module.", "0.auto_model.", "model.bert.", "bert.bert."]
)
def test_a_prefix_before_the_names_of_transformers_is_ignored(tmp_path, scope):
    tensors = create_tensors()
    scoped = {f"{scope}{name}": value for name, value in tensors.items()}
    scoped["classifier.weight"] = tensors["pooler.dense.weight"]
    write_huggingface_files(tmp_path, scoped)
    model, expected = (BertModel(load_config(tmp_path)) for _ in range(2))
    report = load_checkpoint(model, tmp_path)
    assert not report.missing
    assert report.unused == ["classifier.weight"]
    load_checkpoint(expected, RECORDED / "BertModel")
    assert_close(model.weights, expected.weights, 0)


@pytest.mark.parametrize(
    "scopes", [("query.", "passage."), ("x.roberta.",), ("distilbert.",)]
)
def test_weights_of_two_scopes_or_other_networks_are_refused(tmp_path, scopes):
    tensors = create_tensors()
    values = {
        scope + name: tensors[name] for name in tensors for scope in scopes
    }
    write_huggingface_files(tmp_path, values)
    with pytest.raises(ValueError, match=f"contains .*{scopes[-1]}embeddin"):
        load_checkpoint(BertModel(load_config(tmp_path)), tmp_path)


def test_an_adapter_beside_its_model_is_named(tmp_path):
    """Transformers adds it to the model when it loads the folder."""
    write_huggingface_files(tmp_path, create_tensors())
    # macOS creates such files.
    (tmp_path / "._adapter_model.safetensors").write_bytes(b"?")
    assert find_checkpoint(tmp_path) == f"{tmp_path}/model.safetensors"
    # Merged, which leaves only the weights.
    (tmp_path / "adapter_model.safetensors").write_bytes(b"?")
    assert find_checkpoint(tmp_path) == f"{tmp_path}/model.safetensors"
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ValueError, match="adapter"):
        check_checkpoint(tmp_path)


# {a weight of the masked LM head: the weight that it equals in BERT}
DECODER = "cls.predictions.decoder"
TWINS = {
    f"{DECODER}.weight": "bert.embeddings.word_embeddings.weight",
    f"{DECODER}.bias": "cls.predictions.bias",
}


def load_tensors(keras_class, folder, tensors):
    """Writes tensors to a folder. Returns a model, and the report of it."""
    write_huggingface_files(folder, tensors)
    model = keras_class(load_config(folder))
    return model, load_checkpoint(model, folder)


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_a_masked_lm_head_that_shares_its_tensors_is_read(tmp_path, name, twin):
    tensors = create_tensors("BertForPreTraining")
    tensors[name] = tensors[twin]
    _, report = load_tensors(BertPretrainer, tmp_path, tensors)
    assert not report.missing
    assert not report.unused


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_a_masked_lm_head_of_its_own_is_refused(tmp_path, name, twin):
    tensors = create_tensors("BertForPreTraining")
    tensors[name] = tensors[twin] + 1
    with pytest.raises(ValueError, match=f"{name} differs from {twin}"):
        load_tensors(BertPretrainer, tmp_path, tensors)


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_a_model_without_the_masked_lm_head_does_not_read_it(
    tmp_path, name, twin
):
    tensors = create_tensors("BertForPreTraining")
    tensors[name] = tensors[twin] + 1
    _, report = load_tensors(BertModel, tmp_path, tensors)
    assert not report.missing


def test_the_only_copy_of_the_masked_lm_bias_is_the_bias(tmp_path):
    tensors = create_tensors("BertForPreTraining")
    bias = tensors.pop("cls.predictions.bias") + 1
    tensors[f"{DECODER}.bias"] = bias
    model, report = load_tensors(BertPretrainer, tmp_path, tensors)
    assert not report.missing
    np.testing.assert_array_equal(model.masked_lm.output_bias, bias)


def test_a_missing_pooler_is_reported(tmp_path, caplog):
    tensors = create_tensors()
    del tensors["pooler.dense.weight"]
    del tensors["pooler.dense.bias"]
    write_huggingface_files(tmp_path, tensors)
    model = BertSpanLabeler(load_config(tmp_path))
    report = load_checkpoint(model, tmp_path)
    assert "bert/pooler/dense/kernel" in report.missing
    (warning,) = logged_warnings(caplog)
    assert "pooler" in warning


def test_a_missing_weight_of_a_block_is_an_error(tmp_path):
    tensors = create_tensors()
    del tensors["encoder.layer.0.attention.self.query.weight"]
    write_huggingface_files(tmp_path, tensors)
    model = BertSpanLabeler(load_config(tmp_path))
    with pytest.raises(
        ValueError, match=r"lacks .*layer_0/attention/self/query"
    ):
        load_checkpoint(model, tmp_path)


def test_a_block_beyond_num_hidden_layers_is_warned_of(tmp_path, caplog):
    tensors = create_tensors()
    tensors["encoder.layer.9.output.dense.weight"] = np.zeros((8, 8), "f4")
    load_tensors(BertModel, tmp_path, tensors)
    (warning,) = logged_warnings(caplog)
    assert "num_hidden_layers" in warning


def test_an_adapter_within_the_weights_is_refused(tmp_path):
    tensors = create_tensors()
    adapter = "encoder.layer.0.attention.self.query.lora_A.weight"
    tensors[adapter] = np.zeros((8, 16), "f4")
    with pytest.raises(ValueError, match=r"lora_A\.weight"):
        load_tensors(BertModel, tmp_path, tensors)


def test_a_file_that_is_missing_is_named(tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(OSError, match=f"{path} cannot be read"):
        load_checkpoint(BertModel(BertConfig.from_dict(CONFIG)), path)


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"no safetensors in here",
        (RECORDED / "BertModel/model.safetensors").read_bytes()[:-1],
    ],
    ids=["empty", "text", "cut"],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, contents):
    path = tmp_path / "model.safetensors"
    path.write_bytes(contents)
    model = BertModel(BertConfig.from_dict(CONFIG))
    with pytest.raises(OSError, match=f"{path} cannot be read"):
        load_checkpoint(model, tmp_path)
    with pytest.raises(OSError, match=f"{path} cannot be read"):
        check_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float16", np.nan),
        # Beyond the range of the model's float32.
        ("float64", 1e300),
    ],
)
def test_weights_that_are_not_finite_are_refused(tmp_path, value, dtype):
    tensors = {
        name: value.astype(dtype) for name, value in create_tensors().items()
    }
    write_huggingface_files(tmp_path, tensors)
    model = BertModel(load_config(tmp_path))
    load_checkpoint(model, tmp_path)
    query = "encoder.layer.1.attention.self.query.weight"
    tensors[query][2, 5] = value
    write_huggingface_files(tmp_path, tensors)
    with pytest.raises(
        ValueError,
        # The kernel is the transposed.
        match=r"query/kernel.*\[5, 2\]",
    ):
        load_checkpoint(model, tmp_path)
