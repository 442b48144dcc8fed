"""The variables that the numbered datasets of KerasHub's files belong to."""

from model_folders.bert_config import BertConfig
from model_folders.formats.kerashub_targets import (
    WeightTarget,
    classifier_targets,
    masked_lm_targets,
    network_targets,
)
from model_folders.formats.shape_checks import encoder_shapes

CONFIG = BertConfig(
    vocab_size=9,
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=16,
    max_position_embeddings=5,
    type_vocab_size=2,
)
ATTENTION = "transformer_encoder_1/_self_attention_layer"


def test_the_targets_of_an_encoder_are_all_weights_of_a_bert():
    targets = network_targets(CONFIG).values()
    shapes = {target.name: target.shape for target in targets}
    del shapes["bert/pooler/dense/kernel"], shapes["bert/pooler/dense/bias"]
    assert shapes == {
        name: tuple(getattr(CONFIG, entry) for entry in entries)
        for name, entries in encoder_shapes(CONFIG.num_hidden_layers)
    }


def test_the_first_block_has_no_number():
    targets = network_targets(CONFIG)
    dataset = "transformer_encoder/_feedforward_layer_norm/vars/0"
    assert targets[dataset].name == (
        "bert/encoder/layer_0/output/LayerNorm/gamma"
    )


def test_attention_has_an_axis_of_heads_in_the_file():
    target = network_targets(CONFIG)[f"{ATTENTION}/query_dense/vars/0"]
    assert target == WeightTarget(
        "bert/encoder/layer_1/attention/self/query/kernel",
        stored_shape=(8, 4, 2),
        shape=(8, 8),
    )


def test_the_weights_of_a_classifier_are_transposed():
    targets = classifier_targets(CONFIG, 3)
    assert targets["dense/vars/0"] == WeightTarget(
        "output_weights", (8, 3), (3, 8), is_transposed=True
    )


def test_the_head_for_masked_lm_has_a_bias_for_each_wordpiece():
    targets = masked_lm_targets(CONFIG)
    bias = targets["masked_lm_head/vars/0"]
    assert (bias.name, bias.shape) == ("cls/predictions/output_bias", (9,))
