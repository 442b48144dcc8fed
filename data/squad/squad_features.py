"""The features of a window of SQuAD, and its TFRecord.

passage_windows.py creates the features.
"""

import dataclasses

from data.io import tf_examples


@dataclasses.dataclass(slots=True)
class SquadFeatures:
    """Features of one window.

    Attributes:
        unique_id: number of the window among the windows of all examples. As in
            Google's code, the first number is 1000000000.
        example_index: index of the window's example.
        doc_span_index: index of the window among its example's windows.
        tokens: the WordPieces without padding.
        token_to_orig_map: {position of a passage token in the window: index of
            its word in the passage}.
        token_is_max_context: {position of a passage token in the window:
            whether no other window contains more context around the token}.
        input_ids: [max_seq_length], ids of the WordPieces.
        input_mask: [max_seq_length], 1 = a real token.
        segment_ids: [max_seq_length], 1 = token of the passage, or the [SEP]
            after it.
        start_position, end_position: in training: positions of the answer's
            first and last token, or 0 if the window does not contain it.
        is_impossible: whether the passage does not answer the question.
        token_to_char_map: {position of a passage token: (start, end) of its
            characters in the passage}. None without --use_char_offsets.
    """

    unique_id: int
    example_index: int
    doc_span_index: int
    tokens: list[str]
    token_to_orig_map: dict[int, int]
    token_is_max_context: dict[int, bool]
    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    start_position: int | None = None
    end_position: int | None = None
    is_impossible: bool | None = None
    token_to_char_map: dict[int, tuple[int, int]] | None = None


def encode_squad_features(feature: SquadFeatures) -> bytes:
    """Serializes SquadFeatures as a tf.train.Example."""
    values: dict[str, tf_examples.Values] = {}
    if feature.start_position is not None and feature.end_position is not None:
        values["start_positions"] = [feature.start_position]
        values["end_positions"] = [feature.end_position]
        values["is_impossible"] = [int(bool(feature.is_impossible))]
    # Protocol buffers merge the fields of concatenated messages.
    unique_id = tf_examples.encode_example({"unique_ids": [feature.unique_id]})
    return unique_id + tf_examples.encode_inputs(feature, values)
