"""The label of an example as ids."""

import pytest

from data.classification import label_encoding


def test_an_unknown_label_has_no_id():
    assert label_encoding.encode_label(None, ["ham", "spam"]) is None


def test_a_label_that_the_task_lacks_is_an_error():
    with pytest.raises(ValueError, match="eggs"):
        label_encoding.encode_label("eggs", ["ham", "spam"])
