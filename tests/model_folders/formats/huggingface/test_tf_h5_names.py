"""Names of the weights in TensorFlow's files of transformers 4."""

import pytest

from model_folders.formats.huggingface.tf_h5_names import tf_h5_to_google


@pytest.mark.parametrize(
    ("stored", "google"),
    [
        (
            "bert/tf_bert_model/bert/encoder/layer_._3/output/dense/kernel:0",
            "bert/encoder/layer_3/output/dense/kernel",
        ),
        (
            "bert/embeddings/word_embeddings/weight:0",
            "bert/embeddings/word_embeddings",
        ),
        (
            "bert/embeddings/token_type_embeddings/embeddings:0",
            "bert/embeddings/token_type_embeddings",
        ),
        (
            "mlm___cls/tf_bert_for_pre_training/mlm___cls/predictions/bias:0",
            "cls/predictions/output_bias",
        ),
        (
            "nsp___cls/seq_relationship/kernel:0",
            "cls/seq_relationship/output_weights",
        ),
        ("qa_outputs/model/qa_outputs/bias:0", "cls/squad/output_bias"),
        ("classifier/model/classifier/kernel:0", "output_weights"),
    ],
)
def test_a_name_becomes_googles(stored, google):
    assert tf_h5_to_google(stored) == google


@pytest.mark.parametrize(
    "stored",
    [
        "bert/encoder/layer_._3/relative/kernel:0",
        "bert/encoder/layer_._1234567/output/dense/kernel:0",
        "albert/embeddings/word_embeddings/weight:0",
        "",
    ],
)
def test_the_name_of_no_weight_of_a_bert_is_unknown(stored):
    assert tf_h5_to_google(stored) is None
