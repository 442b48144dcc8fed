"""KerasHub's BERT as a contestant, with random weights."""

import keras
import keras_hub
import numpy as np
import tensorflow as tf

from benchmarks import timing

PACKAGES = ["keras-hub", "keras", "tensorflow"]


def create_backbone(
    workload: timing.Workload,
) -> tuple[keras.Model, dict[str, np.ndarray]]:
    """Returns a BertBackbone with random weights, and a batch for it."""
    config = timing.read_config(workload)
    backbone = keras_hub.models.BertBackbone(
        vocabulary_size=config["vocab_size"],
        num_layers=config["num_hidden_layers"],
        num_heads=config["num_attention_heads"],
        hidden_dim=config["hidden_size"],
        intermediate_dim=config["intermediate_size"],
        dropout=config["hidden_dropout_prob"],
        max_sequence_length=config["max_position_embeddings"],
    )
    inputs = timing.random_inputs(workload, config["vocab_size"])
    inputs["token_ids"] = inputs.pop("input_ids")
    inputs["padding_mask"] = inputs.pop("input_mask")
    return backbone, inputs


def pretrain(workload: timing.Workload) -> timing.Work:
    """Trains the masked LM. KerasHub has no next sentence prediction."""
    if workload["precision"] == "bfloat16":
        keras.config.set_dtype_policy("mixed_bfloat16")
    backbone, inputs = create_backbone(workload)
    model = keras_hub.models.BertMaskedLM(backbone)
    model.compile(
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=keras.optimizers.AdamW(
            5e-5, weight_decay=0.01, epsilon=1e-6, global_clipnorm=1.0
        ),
    )
    positions = timing.masked_positions(workload)
    labels = inputs["token_ids"][:, positions]
    inputs["mask_positions"] = np.tile(positions, (len(labels), 1))

    def repeat(num_steps: int) -> None:
        for _ in range(num_steps):
            model.train_on_batch(inputs, labels)

    return timing.Work(repeat, len(labels))


def inference(workload: timing.Workload) -> timing.Work:
    """Runs the encoder's forward pass, from NumPy arrays to NumPy arrays."""
    if workload["variant"]:
        keras.config.set_dtype_policy(workload["variant"])
    backbone, inputs = create_backbone(workload)

    # Do not use the model's `predict`, because it is slower for one batch.
    @tf.function(autograph=False)
    def forward(tensors: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        outputs: dict[str, tf.Tensor] = backbone(tensors, training=False)
        return outputs

    def repeat(num_steps: int) -> None:
        for _ in range(num_steps):
            outputs = forward(tf.nest.map_structure(tf.constant, inputs))
            _ = tf.nest.map_structure(np.asarray, outputs)

    return timing.Work(repeat, workload["batch_size"])
