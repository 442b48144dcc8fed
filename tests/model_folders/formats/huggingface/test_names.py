"""Names of the weights in Hugging Face's files for torch."""

import pytest

from model_folders.formats.huggingface.names import (
    google_to_huggingface,
    huggingface_to_google,
    normalized_name,
)

# {Google's name: Hugging Face's name}
NAMES = {
    "bert/embeddings/word_embeddings": "bert.embeddings.word_embeddings.weight",
    "bert/embeddings/LayerNorm/gamma": "bert.embeddings.LayerNorm.weight",
    "bert/embeddings/LayerNorm/beta": "bert.embeddings.LayerNorm.bias",
    "bert/encoder/layer_11/attention/self/query/kernel": (
        "bert.encoder.layer.11.attention.self.query.weight"
    ),
    "bert/encoder/layer_0/output/dense/bias": (
        "bert.encoder.layer.0.output.dense.bias"
    ),
    "bert/pooler/dense/kernel": "bert.pooler.dense.weight",
    "cls/predictions/transform/dense/kernel": (
        "cls.predictions.transform.dense.weight"
    ),
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
    "output_weights": "classifier.weight",
}


@pytest.mark.parametrize("google", NAMES)
def test_googles_name_becomes_that_of_hugging_face(google):
    assert google_to_huggingface(google) == NAMES[google]


@pytest.mark.parametrize("google", NAMES)
def test_the_name_of_hugging_face_becomes_googles(google):
    assert huggingface_to_google(NAMES[google]) == google


@pytest.mark.parametrize("name", ["score.weight", "bert.a_b/c", "bert.x.gamma"])
def test_a_name_that_google_cannot_have_stays(name):
    assert huggingface_to_google(name) == name


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight"),
        ("bert.encoder.LayerNorm.beta", "bert.encoder.LayerNorm.bias"),
        ("pooler.dense.bias", "bert.pooler.dense.bias"),
        ("classifier.weight", "classifier.weight"),
    ],
)
def test_names_of_old_files_become_those_of_new_files(stored, new):
    assert normalized_name(stored) == new
