"""Names in object-based checkpoints of Model Garden, and Google's for them."""

import pytest

from model_folders.formats import object_based_names

BLOCK = "bert/encoder/layer_3"


@pytest.mark.parametrize(
    ("name", "googles"),
    [
        ("word_embeddings/embeddings", "bert/embeddings/word_embeddings"),
        (
            "embedding_postprocessor/type_embeddings",
            "bert/embeddings/token_type_embeddings",
        ),
        ("embeddings/layer_norm/gamma", "bert/embeddings/LayerNorm/gamma"),
        (
            "transformer/layer_3/self_attention/query/kernel",
            f"{BLOCK}/attention/self/query/kernel",
        ),
        (
            "encoder/layer_3/self_attention_output/bias",
            f"{BLOCK}/attention/output/dense/bias",
        ),
        (
            "transformer/layer_3/output_layer_norm/beta",
            f"{BLOCK}/output/LayerNorm/beta",
        ),
        ("pooler_transform/kernel", "bert/pooler/dense/kernel"),
        ("next_sentence/logits/bias", "cls/seq_relationship/output_bias"),
    ],
)
@pytest.mark.parametrize("scope", ["", "bert_pretrainer/any/"])
def test_object_to_google_ignores_the_scope_of_a_name(scope, name, googles):
    assert object_based_names.object_to_google(scope + name) == googles


@pytest.mark.parametrize("name", ["adam/iterations", "my_head/kernel"])
def test_google_name_of_no_weight_of_bert_is_none(name):
    assert object_based_names.object_to_google(name) is None


@pytest.mark.parametrize(
    ("name", "is_other"),
    [
        ("sentence_prediction/logits/kernel", True),
        ("model/span_labeling/bias", True),
        ("predictions/transform/logits/kernel", True),
        ("cls/predictions/transform/logits/kernel", False),
        ("transformer/layer_3/intermediate/kernel", False),
    ],
)
def test_is_of_other_head_is_true_only_for_heads_that_bert_lacks(
    name, is_other
):
    assert object_based_names.is_of_other_head(name) is is_other


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (
            "encoder/layer_with_weights-0/embeddings",
            "word_embeddings/embeddings",
        ),
        # The first block follows the three embeddings and their norm.
        (
            "layer_with_weights-4/_intermediate_dense/kernel",
            "transformer/layer_0/intermediate/kernel",
        ),
        (
            "_transformer_layers/0/_intermediate_dense/kernel",
            "transformer/layer_0/intermediate/kernel",
        ),
        ("layer_with_weights-16/bias", "pooler_transform/bias"),
        ("masked_lm/output_bias.Sbias", "cls/predictions/output_bias/bias"),
        ("optimizer/iter", "optimizer/iter"),
    ],
)
def test_name_of_key_is_the_name_that_the_key_shows(key, name):
    assert object_based_names.name_of_key(key) == name
