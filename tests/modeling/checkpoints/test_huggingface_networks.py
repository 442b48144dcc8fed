"""Networks of a config.json against the formulas of transformers, in NumPy."""

import json

import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf
from scipy import special

import modeling
from modeling.accelerated import inference
from tests.golden import ROOT

RECORDED = ROOT / "tests/testdata/huggingface"
CONFIG = json.loads((RECORDED / "BertModel/config.json").read_text())
TENSORS = safetensors.numpy.load_file(RECORDED / "BertModel/model.safetensors")


def gelu_exact(x):
    return 0.5 * x * (1 + special.erf(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


# transformers/activations.py, ACT2FN.
FORMULAS = {
    "gelu": gelu_exact,
    "gelu_python": gelu_exact,
    "gelu_new": gelu_tanh,
    "gelu_fast": gelu_tanh,
    "gelu_accurate": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "linear": lambda x: x,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": special.expit,
    "silu": lambda x: x * special.expit(x),
    "swish": lambda x: x * special.expit(x),
    "tanh": np.tanh,
}


def encode(tensors, inputs, hidden_act, epsilon):
    """Returns BertModel's last_hidden_state and pooler_output."""
    tensors = {name: np.float64(value) for name, value in tensors.items()}
    num_heads = CONFIG["num_attention_heads"]

    def dense(name, x):
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        return x @ weight.T + bias

    def normalize(name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + epsilon)
        return x * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def split(x):
        return x.reshape(*x.shape[:2], num_heads, -1).transpose(0, 2, 1, 3)

    ids, mask, segments = inputs
    x = tensors["embeddings.word_embeddings.weight"][ids]
    x = x + tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = x + tensors["embeddings.token_type_embeddings.weight"][segments]
    x = normalize("embeddings.LayerNorm", x)
    for block in range(CONFIG["num_hidden_layers"]):
        name = f"encoder.layer.{block}"
        q, k, v = (
            split(dense(f"{name}.attention.self.{kind}", x))
            for kind in ("query", "key", "value")
        )
        scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        scores = np.where(mask[:, None, None] > 0, scores, -np.inf)
        context = special.softmax(scores, -1) @ v
        context = context.transpose(0, 2, 1, 3).reshape(x.shape)
        y = dense(f"{name}.attention.output.dense", context)
        x = normalize(f"{name}.attention.output.LayerNorm", x + y)
        y = FORMULAS[hidden_act](dense(f"{name}.intermediate.dense", x))
        y = dense(f"{name}.output.dense", y)
        x = normalize(f"{name}.output.LayerNorm", x + y)
    return x, np.tanh(dense("pooler.dense", x[:, 0]))


def load(folder, **changes):
    safetensors.numpy.save_file(TENSORS, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))
    model = modeling.BertModel(modeling.load_config(folder))
    assert not modeling.load_checkpoint(model, folder).missing
    return model


@pytest.fixture(scope="module")
def inputs():
    recorded = np.load(RECORDED / "outputs.npz")
    names = ("input_ids", "attention_mask", "token_type_ids")
    return [recorded[name].astype(np.int32) for name in names]


def test_the_formulas_compute_what_was_recorded(inputs):
    recorded = np.load(RECORDED / "outputs.npz")
    states, pooled = encode(TENSORS, inputs, "gelu", 1e-12)
    expected = recorded["BertModel/last_hidden_state"]
    np.testing.assert_allclose(states, expected, atol=1e-5)
    expected = recorded["BertModel/pooler_output"]
    np.testing.assert_allclose(pooled, expected, atol=1e-5)


@pytest.mark.parametrize(
    "changes",
    [
        *({"hidden_act": name} for name in FORMULAS),
        *({"layer_norm_eps": value} for value in (1e-5, 0.1)),
    ],
    ids=str,
)
def test_a_network_of_config_json(tmp_path, inputs, changes):
    values = {"hidden_act": "gelu", "layer_norm_eps": 1e-12} | changes
    expected = encode(TENSORS, inputs, *values.values())
    model = load(tmp_path, **changes)
    names = ("input_ids", "input_mask", "segment_ids")
    features = dict(zip(names, map(tf.constant, inputs), strict=True))
    compute = [lambda: model(features)]
    if "layer_norm_eps" in changes or values["hidden_act"] == "silu":
        # The forms for prediction; of few rows, and of enough for oneDNN.
        predict = inference.Predictor(model)
        graph = tf.function(predict, autograph=False)
        many = {k: tf.tile(x, [300, 1]) for k, x in features.items()}
        compute += [
            lambda: graph(features),
            lambda: {k: x[-3:] for k, x in graph(many).items()},
        ]
    for forward in compute:
        outputs = forward()
        found = outputs["sequence_output"], outputs["pooled_output"]
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5)
    # And back: the same network under the name that transformers has now.
    modeling.save_huggingface(model, tmp_path / "back")
    written = json.loads((tmp_path / "back/config.json").read_text())
    assert written["layer_norm_eps"] == values["layer_norm_eps"]
    assert FORMULAS[written["hidden_act"]] in (
        FORMULAS[values["hidden_act"]],
        *[FORMULAS["silu"]] * (values["hidden_act"] == "swish"),
    )
    assert modeling.load_config(tmp_path / "back") == model.config
    modeling.save_release(model, tmp_path / "release")
    config = modeling.load_config(tmp_path / "release")
    assert config == model.config
