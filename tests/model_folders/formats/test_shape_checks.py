"""Sizes of a configuration, compared with the shapes in a checkpoint."""

import dataclasses
import re

import pytest

from model_folders.bert_config import BertConfig
from model_folders.formats.shape_checks import (
    check_initial_blocks,
    check_shapes,
    describe_entries,
    encoder_shapes,
)

CONFIG = BertConfig(
    vocab_size=20,
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=12,
    max_position_embeddings=16,
    type_vocab_size=3,
)


@pytest.fixture
def shapes():
    """{Google's name: shape} of the encoder of CONFIG."""
    return {
        name: [getattr(CONFIG, entry) for entry in entries]
        for name, entries in encoder_shapes(CONFIG.num_hidden_layers)
    }


def test_the_weights_of_an_encoder_have_these_sizes():
    sizes = dict(encoder_shapes(num_blocks=1))
    # 5 of the embeddings and 16 of the block.
    assert len(sizes) == 21
    assert sizes["bert/embeddings/word_embeddings"] == (
        "vocab_size",
        "hidden_size",
    )
    assert sizes["bert/encoder/layer_0/intermediate/dense/kernel"] == (
        "hidden_size",
        "intermediate_size",
    )
    assert sizes["bert/encoder/layer_0/output/LayerNorm/beta"] == (
        "hidden_size",
    )


def test_shapes_that_agree_are_accepted(shapes):
    check_shapes("a.ckpt", shapes, CONFIG)


def test_other_weights_in_the_file_do_not_matter(shapes):
    check_shapes("a.ckpt", shapes | {"output_bias": [5]}, CONFIG)


def test_a_weight_of_another_shape_is_named(shapes):
    shapes["bert/embeddings/word_embeddings"] = [30, 8]
    message = (
        "bert/embeddings/word_embeddings has shape [30, 8] in a.ckpt, but "
        "[20, 8] in the model (vocab_size=20, hidden_size=8 in c.json)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        check_shapes("a.ckpt", shapes, CONFIG, config_file="c.json")


def test_a_missing_block_is_a_wrong_number_of_blocks(shapes):
    shapes = {
        name: shape for name, shape in shapes.items() if "layer_1" not in name
    }
    message = (
        "a.ckpt lacks bert/encoder/layer_1/attention/self/query/kernel with "
        "shape [8, 8] (num_hidden_layers=2, hidden_size=8 in the configuration)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        check_shapes("a.ckpt", shapes, CONFIG)


def test_the_entries_of_a_file_without_a_bert_are_named():
    message = "contains dense/kernel, dense/bias"
    with pytest.raises(ValueError, match=message):
        check_shapes("a.ckpt", {"dense/kernel": [], "dense/bias": []}, CONFIG)


def test_the_first_five_entries_are_named():
    assert (
        describe_entries(iter("abcdefg")) == "The file contains a, b, c, d, e"
    )


def test_an_empty_file_contains_no_other_entries():
    assert describe_entries(iter("")) == "The file contains no other entries"


def test_the_number_of_heads_must_divide_the_hidden_size():
    config = BertConfig(20, hidden_size=8, num_attention_heads=3)
    message = "hidden_size=8, .* num_attention_heads=3"
    with pytest.raises(ValueError, match=message):
        check_shapes("a.ckpt", {}, config)


def test_the_blocks_of_a_checkpoint_may_be_chosen(shapes):
    config = dataclasses.replace(CONFIG, num_hidden_layers=1)
    other = "bert/encoder/layer_0/output/dense/bias"
    shapes[other] = [9]
    check_shapes("a.ckpt", shapes, config, initial_blocks=[1])
    with pytest.raises(ValueError, match=other):
        check_shapes("a.ckpt", shapes, config, initial_blocks=[0])


def test_a_block_is_chosen_for_each_block_of_the_model():
    with pytest.raises(ValueError, match=r"2 blocks\. Received: \[0\]"):
        check_initial_blocks(CONFIG, [0])
