"""Weights that `save_weights` of transformers 4 wrote."""

import re

import h5py
import numpy as np
import pytest

import modeling
from tests.support.weights.modelgarden import WEIGHTS
from tests.support.weights.object_checkpoints import ObjectCheckpoint

# Patterns of Google's names, and their replacements in transformers 4.
TRANSFORMERS_NAMES = (
    ("/layer_", "/layer_._"),
    (r"(position|token_type)_embeddings$", r"\g<0>/embeddings"),
    (r"^cls/squad/output_weights", "qa_outputs/kernel"),
    (r"^cls/squad/output_bias", "qa_outputs/bias"),
    (r"^cls/(?=predictions)", "mlm___cls/"),
    (r"^cls/(?=seq)", "nsp___cls/"),
    (r"predictions/output_bias$", "predictions/bias"),
    (r"relationship/output_weights$", "relationship/kernel"),
    (r"relationship/output_bias$", "relationship/bias"),
    ("^output_weights", "classifier/kernel"),
    ("^output_bias", "classifier/bias"),
)


def transformers_name(name, scope):
    """Returns the name in `save_weights` of transformers 4 for Google's."""
    # The releases of 2019 call the matrix of the words `weight`.
    word = "embeddings" if "sequence" in scope else "weight"
    name = re.sub("(?<=word_embeddings)$", f"/{word}", name)
    for pattern, replacement in TRANSFORMERS_NAMES:
        name = re.sub(pattern, replacement, name)
    if scope == "tf_bert_for_masked_lm/":
        name = name.replace("mlm___", "")
    return f"{scope}{name}"


SEEDS = "seed"
CLASSIFIER = {"num_labels": 3}


@pytest.mark.parametrize(
    ("head", "options", "scope", "omitted"),
    [
        ("BertModel", {}, "", SEEDS),
        ("BertModel", {}, "tf_bert_model/", SEEDS),
        (
            "BertClassifier",
            CLASSIFIER,
            "tf_bert_for_sequence_classification/",
            SEEDS,
        ),
        (
            "BertTokenClassifier",
            CLASSIFIER,
            "tf_bert_for_token_classification/",
            SEEDS,
        ),
        ("BertSpanLabeler", {}, "tf_bert_for_question_answering/", SEEDS),
        ("BertPretrainer", {}, "tf_bert_for_pre_training/", SEEDS),
        (
            "BertPretrainer",
            {},
            "tf_bert_for_masked_lm/",
            f"{SEEDS}|pooler|seq_relationship",
        ),
        (
            "BertPretrainer",
            {},
            "tf_bert_for_next_sentence_prediction/",
            f"{SEEDS}|predictions",
        ),
    ],
)
def test_weights_of_transformers_are_loaded(
    tmp_path, head, options, scope, omitted
):
    """`omitted` matches the names of weights that the file lacks."""
    config = modeling.load_config(WEIGHTS / "v1_items")
    saved = getattr(modeling, head)(config, **options)
    saved.build()
    named = modeling.named_variables(saved)
    names = [name for name in named if not re.search(omitted, name)]
    checkpoint = ObjectCheckpoint()
    for name in names:
        value = named[name].numpy()
        value = value.T if name.endswith("output_weights") else value
        stored = transformers_name(name, scope)
        checkpoint.add_variable(stored, name, value)
    checkpoint.write(tmp_path / "weights")
    # The head of a classifier has as many labels as its weights.
    model = getattr(modeling, head).from_preset(tmp_path, config=config)
    loaded = modeling.named_variables(model)
    for name in names:
        np.testing.assert_array_equal(loaded[name], named[name])


def test_names_of_2019_in_tf_model_h5_are_read(tmp_path):
    """TFBertModel of 2019 stored the words as `word_embeddings/weight`."""
    config = modeling.load_config(WEIGHTS / "v1_items")
    saved = modeling.BertModel(config)
    saved.build()
    named = modeling.named_variables(saved)
    names = [name for name in named if "seed" not in name]
    with h5py.File(tmp_path / "tf_model.h5", "w") as file:
        for name in names:
            stored = transformers_name(name, "bert/tf_bert_model/")
            file[f"{stored}:0"] = named[name].numpy()
    text = config.to_json_string()
    (tmp_path / "config.json").write_text(text)
    model = modeling.BertModel.from_preset(tmp_path)
    loaded = modeling.named_variables(model)
    for name in names:
        np.testing.assert_array_equal(loaded[name], named[name])
