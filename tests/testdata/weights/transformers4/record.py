"""Records small models of each TensorFlow class of transformers 4.

Needs transformers 4.57, tf-keras and TensorFlow, and TF_USE_LEGACY_KERAS=1. The
model in cls/ and cls.npz was recorded in the same way, with other sizes.
"""

import pathlib

import numpy as np
import tensorflow as tf
import transformers

FOLDER = pathlib.Path(__file__).parent
SIZES = {
    "vocab_size": 64,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 16,
}
NUM_LABELS = {"SequenceClassification": 3, "TokenClassification": 5}
HEADS = (
    "PreTraining",
    "MaskedLM",
    "NextSentencePrediction",
    "QuestionAnswering",
    "MultipleChoice",
    *NUM_LABELS,
)


def record(name, inputs, **labels):
    config = transformers.BertConfig(**SIZES, **labels)
    model = getattr(transformers, f"TF{name}")(config)
    model(inputs)
    random = np.random.default_rng(5)
    for weight in model.weights:
        weight.assign(random.normal(0, 0.3, weight.shape))
    outputs = model(inputs)
    model.save_pretrained(FOLDER / name)
    if name == "BertForPreTraining":
        model.save_pretrained(FOLDER / "sharded", max_shard_size="6KB")
    return {f"{name}/{key}": np.asarray(outputs[key]) for key in outputs}


def main():
    random = np.random.default_rng(3)
    arrays = {
        "input_ids": random.integers(0, 64, (4, 12)),
        "attention_mask": np.arange(12) < np.array([[12], [9], [5], [2]]),
        "token_type_ids": random.integers(0, 2, (4, 12)),
    }
    inputs = {name: tf.constant(x, tf.int32) for name, x in arrays.items()}
    recorded = record("BertModel", inputs)
    for head in HEADS:
        shape = (2, 2, 12) if head == "MultipleChoice" else (4, 12)
        features = {name: tf.reshape(x, shape) for name, x in inputs.items()}
        labels = {}
        if head in NUM_LABELS:
            labels["num_labels"] = NUM_LABELS[head]
        recorded |= record(f"BertFor{head}", features, **labels)
    np.savez(FOLDER / "outputs.npz", **inputs, **recorded)


if __name__ == "__main__":
    main()
