"""The names of the features of a batch that a model accepts."""

import types

import numpy as np
import pytest

import modeling
from modeling import features
from tests.support.models import SMALL

IDS = np.zeros((2, 3), "int32")


def test_a_model_reads_only_its_features():
    model = types.SimpleNamespace(feature_ranks={"input_ids": 2, "absent": 2})
    batch = {"input_ids": IDS, "label_ids": IDS}
    assert [*features.select_features(model, batch)] == ["input_ids"]


def test_a_model_that_states_no_features_reads_all():
    batch = {"input_ids": IDS, "factor": IDS}
    assert [*features.select_features(object(), batch)] == [*batch]


def check_names(batch):
    modeling.BertPretrainer(SMALL).check_features(batch)


def test_a_batch_may_have_labels_and_lack_its_mask():
    check_names({"input_ids": 1, "masked_lm_positions": 1, "label_ids": 1})


def test_an_unknown_feature_is_named():
    batch = {"input_ids": 1, "masked_lm_positions": 1, "attention_mask": 1}
    with pytest.raises(ValueError, match=r"\['attention_mask'\] are no inputs"):
        check_names(batch)


def test_a_missing_feature_is_named():
    says = r"BertPretrainer lacks the inputs \['masked_lm_positions'\]"
    with pytest.raises(ValueError, match=says):
        check_names({"input_ids": 1})


def test_a_batch_that_is_not_a_dict_is_refused():
    with pytest.raises(ValueError, match=r"reads a dict .* received list"):
        check_names([IDS])
