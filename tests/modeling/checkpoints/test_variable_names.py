"""Google's names of a model's variables."""

from types import SimpleNamespace

import pytest

import modeling
from modeling.checkpoints.variable_names import google_name_of, named_variables
from tests.support.models import SMALL, built

QUERY = "bert/encoder/layer_0/attention/self/query/kernel"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (QUERY, QUERY),
        (f"my_model/{QUERY}", QUERY),
        (
            "cls/predictions_head/cls/predictions/output_bias",
            "cls/predictions/output_bias",
        ),
        ("my_model/head/output_weights", "output_weights"),
        ("my_model/bilstm/forward/kernel", "bilstm/forward/kernel"),
        ("my_model/projection/kernel", "my_model/projection/kernel"),
    ],
)
def test_the_path_before_googles_name_is_left_out(path, name):
    assert google_name_of(SimpleNamespace(path=path)) == name


def test_the_head_of_a_classifier_has_googles_names():
    variables = named_variables(built(modeling.BertClassifier(SMALL, 2)))
    assert variables["output_weights"].shape == (2, SMALL.hidden_size)
    assert variables["output_bias"].shape == (2,)
