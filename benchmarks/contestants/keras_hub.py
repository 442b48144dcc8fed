"""KerasHub's BERT, without a download."""

import json
from pathlib import Path

import keras
import keras_hub
import numpy as np
import tensorflow as tf

from benchmarks.contestants import worker


def create_backbone(spec):
    """Returns a BertBackbone of random weights."""
    config = json.loads(Path(spec["bert_config_file"]).read_text())
    return keras_hub.models.BertBackbone(
        vocabulary_size=config["vocab_size"],
        num_layers=config["num_hidden_layers"],
        num_heads=config["num_attention_heads"],
        hidden_dim=config["hidden_size"],
        intermediate_dim=config["intermediate_size"],
        dropout=config["hidden_dropout_prob"],
        max_sequence_length=config["max_position_embeddings"],
    )


def create_inputs(spec, vocab_size):
    """Returns random sequences without padding."""
    shape = spec["batch_size"], spec["seq_length"]
    ids = np.random.default_rng(0).integers(vocab_size, size=shape)
    return {
        "token_ids": ids.astype("int32"),
        "padding_mask": np.ones(shape, "int32"),
        "segment_ids": np.zeros(shape, "int32"),
    }


def pretrain(spec):
    """Training steps of the masked LM; it has no next sentence."""
    if spec["precision"] == "bfloat16":
        keras.config.set_dtype_policy("mixed_bfloat16")
    backbone = create_backbone(spec)
    model = keras_hub.models.BertMaskedLM(backbone)
    model.compile(
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=keras.optimizers.AdamW(
            5e-5, weight_decay=0.01, epsilon=1e-6, global_clipnorm=1.0
        ),
        jit_compile=spec["variant"] == "jit",
    )
    inputs = create_inputs(spec, backbone.vocabulary_size)
    # Evenly spaced positions, one for each prediction.
    positions = np.linspace(
        0, spec["seq_length"] - 1, spec["num_predictions"], dtype="int32"
    )
    labels = inputs["token_ids"][:, positions]
    inputs["mask_positions"] = np.tile(positions, (len(labels), 1))

    def repeat(num_steps):
        for _ in range(num_steps):
            model.train_on_batch(inputs, labels)

    return worker.Work(repeat, len(labels))


def inference(spec):
    """The encoder's forward pass, from NumPy arrays to NumPy arrays."""
    if spec["variant"]:
        keras.config.set_dtype_policy(spec["variant"])
    backbone = create_backbone(spec)
    inputs = create_inputs(spec, backbone.vocabulary_size)

    # Quicker than `predict`, which is made for whole sets.
    @tf.function(autograph=False)
    def forward(tensors):
        return backbone(tensors, training=False)

    def repeat(num_steps):
        for _ in range(num_steps):
            outputs = forward(tf.nest.map_structure(tf.constant, inputs))
            _ = tf.nest.map_structure(np.asarray, outputs)

    return worker.Work(repeat, spec["batch_size"])


def versions():
    """Returns the versions of what was timed."""
    return {
        "keras-hub": keras_hub.__version__,
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
    }


if __name__ == "__main__":
    worker.serve({"pretrain": pretrain, "inference": inference}, versions)
