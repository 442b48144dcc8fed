"""BERT in NumPy, from tensors under the names that transformers gives."""

import math

import numpy as np

W, V, LAYERS, HEADS, INNER, POSITIONS = 12, 30, 2, 3, 20, 16
CONFIG = {
    "architectures": ["BertModel"],
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": W,
    "initializer_range": 0.02,
    "intermediate_size": INNER,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": POSITIONS,
    "model_type": "bert",
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "transformers_version": "4.8.2",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": V,
}


def create_tensors():
    """Returns random tensors under the names that transformers gives."""
    rng = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (V, W),
        "embeddings.position_embeddings.weight": (POSITIONS, W),
        "embeddings.token_type_embeddings.weight": (2, W),
        "embeddings.LayerNorm.weight": (W,),
        "embeddings.LayerNorm.bias": (W,),
        "pooler.dense.weight": (W, W),
        "pooler.dense.bias": (W,),
    }
    for index in range(LAYERS):
        for name, (units, width) in {
            "attention.self.query": (W, W),
            "attention.self.key": (W, W),
            "attention.self.value": (W, W),
            "attention.output.dense": (W, W),
            "intermediate.dense": (INNER, W),
            "output.dense": (W, INNER),
        }.items():
            shapes[f"encoder.layer.{index}.{name}.weight"] = (units, width)
            shapes[f"encoder.layer.{index}.{name}.bias"] = (units,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{index}.{name}.weight"] = (W,)
            shapes[f"encoder.layer.{index}.{name}.bias"] = (W,)
    return {
        name: rng.normal(scale=0.3, size=shape).astype("float32")
        for name, shape in shapes.items()
    }


def layer_norm(x, tensors, name):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    normalized = (x - mean) / np.sqrt(variance + 1e-12)
    return normalized * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def reference(tensors, input_ids):
    """BERT in NumPy float64, straight from Hugging Face's tensors."""

    def dense(x, name):
        return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    tensors = {name: value.astype("float64") for name, value in tensors.items()}
    x = (
        tensors["embeddings.word_embeddings.weight"][input_ids]
        + tensors["embeddings.position_embeddings.weight"][: len(input_ids)]
        + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    x = layer_norm(x, tensors, "embeddings.LayerNorm")
    size = W // HEADS
    for index in range(LAYERS):
        layer = f"encoder.layer.{index}"
        q, k, v = (
            dense(x, f"{layer}.attention.self.{name}")
            for name in ("query", "key", "value")
        )
        context = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            probs = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            context.append(probs / probs.sum(-1, keepdims=True) @ v[:, part])
        attention = dense(
            np.concatenate(context, -1), f"{layer}.attention.output.dense"
        )
        x = layer_norm(
            x + attention, tensors, f"{layer}.attention.output.LayerNorm"
        )
        inner = dense(x, f"{layer}.intermediate.dense")
        inner = 0.5 * inner * (1 + np.vectorize(math.erf)(inner / 2**0.5))
        x = layer_norm(
            x + dense(inner, f"{layer}.output.dense"),
            tensors,
            f"{layer}.output.LayerNorm",
        )
    return x, np.tanh(dense(x[0], "pooler.dense"))
