"""The names and values of a batch that a model accepts."""

import types

import keras
import numpy as np
import pytest

from modeling import features

IDS = np.zeros((2, 3), "int32")


def test_a_model_reads_only_its_features():
    model = types.SimpleNamespace(feature_ranks={"input_ids": 2, "absent": 2})
    batch = {"input_ids": IDS, "label_ids": IDS}
    assert [*features.select_features(model, batch)] == ["input_ids"]


def test_a_model_that_states_no_features_reads_all():
    batch = {"input_ids": IDS, "factor": IDS}
    assert [*features.select_features(object(), batch)] == [*batch]


def check_names(batch):
    needed = ("input_ids", "input_mask", "masked_lm_positions")
    features.check_names(batch, "BertPretrainer", needed)


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


def checked(values, dtype):
    """Returns ids of a table of ten rows, checked."""
    ids = keras.ops.convert_to_tensor(np.array(values, dtype))
    return features.to_integer_ids(ids, "input_ids", num_rows=10)


def test_whole_numbers_of_any_type_become_integers():
    ids = checked([0.0, 9.0], "float32")
    assert keras.backend.standardize_dtype(ids.dtype) == "int32"
    assert np.asarray(ids).tolist() == [0, 9]


@pytest.mark.parametrize("wrong", [-1, 10, 0.5])
def test_an_id_that_is_not_a_row_of_the_table_is_named(wrong):
    says = f"from 0 to 9. Received: {wrong}"
    with pytest.raises(ValueError, match=says):
        checked([0, wrong], "float32")


def test_ids_in_16_bits_are_refused_as_they_would_be_rounded():
    with pytest.raises(ValueError, match="must be integers"):
        checked([0, 1], "float16")
