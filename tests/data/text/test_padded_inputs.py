"""WordPieces of texts become inputs of one length."""

from data.text import padded_inputs


def test_the_second_text_is_segment_1_and_the_padding_is_0():
    assert padded_inputs.pad_input([5, 6, 7], 2, 5) == {
        "input_ids": [5, 6, 7, 0, 0],
        "input_mask": [1, 1, 1, 0, 0],
        "segment_ids": [0, 0, 1, 0, 0],
    }


def test_inputs_become_the_rows_of_arrays():
    inputs = [padded_inputs.pad_input(ids, 1, 2) for ids in ([5], [6])]
    arrays = padded_inputs.stack_inputs(inputs, 2)
    assert arrays["input_ids"].tolist() == [[5, 0], [6, 0]]
    assert {str(array.dtype) for array in arrays.values()} == {"int32"}


def test_no_input_has_the_shape_of_none():
    arrays = padded_inputs.stack_inputs([], 0)
    assert {array.shape for array in arrays.values()} == {(0, 0)}
