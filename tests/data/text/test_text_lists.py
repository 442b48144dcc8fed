"""Texts in any container become a list of str."""

import numpy as np
import pytest
import tensorflow as tf

from data.text.text_lists import to_list


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "é"],
        ("a", "é"),
        [b"a", "é".encode()],
        np.array(["a", "é"]),
        np.array(["a", "é"], object),
        tf.constant(["a", "é"]),
    ],
)
def test_the_texts_of_a_container_are_a_list(texts):
    assert to_list(texts) == ["a", "é"]


@pytest.mark.parametrize("text", ["é", "é".encode(), tf.constant("é")])
def test_one_text_is_a_list_of_one(text):
    assert to_list(text) == ["é"]


def test_bytes_that_are_not_utf_8_are_dropped():
    assert to_list(b"a\xffb") == ["ab"]


def test_a_number_among_the_texts_is_named():
    with pytest.raises(TypeError, match="received int: 3"):
        to_list(["a", 3])


def test_a_pair_in_a_list_is_refused_with_the_right_way():
    with pytest.raises(TypeError, match=r"received list: .*as two lists"):
        to_list([["a", "b"]])


def test_a_dataset_is_refused_with_the_layer_that_reads_it():
    dataset = tf.data.Dataset.from_tensor_slices(["a"])
    message = "use .*BertTextClassifierPreprocessor"
    with pytest.raises(TypeError, match=message):
        to_list(dataset)
