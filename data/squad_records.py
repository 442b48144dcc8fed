"""SQuAD's windows as TFRecords, made by several processes if wanted."""

import functools

from data import records, workers
from data.squad import FIRST_UNIQUE_ID, check_lengths, create_windows


def create_records(
    examples,
    tokenizer,
    max_seq_length,
    doc_stride,
    max_query_length,
    is_training,
    use_char_offsets=False,
    num_processes=1,
):
    """Yields each window as a serialized tf.train.Example, in order.

    Args:
        examples: iterable of SquadExamples.
        tokenizer: as in convert_examples_to_features, and so those below.
        max_seq_length: WordPieces.
        doc_stride: WordPieces.
        max_query_length: WordPieces.
        is_training: bool.
        use_char_offsets: bool.
        num_processes: int, how many make windows at a time, 0 for one on
            each processor; the records do not depend on it.

    Raises:
        ValueError: the lengths leave no room for the passage.
    """
    check_lengths(max_seq_length, max_query_length, doc_stride)
    encode_windows = functools.partial(
        _encode_windows,
        tokenizer=tokenizer,
        max_seq_length=max_seq_length,
        doc_stride=doc_stride,
        max_query_length=max_query_length,
        is_training=is_training,
        use_char_offsets=use_char_offsets,
    )
    windows = workers.generate(
        encode_windows, enumerate(examples), num_processes
    )
    for unique_id, window in enumerate(windows, FIRST_UNIQUE_ID):
        # One after the other, two messages are their union.
        yield records.encode_example({"unique_ids": [unique_id]}) + window


def encode_feature(feature, is_training):
    """Serializes an InputFeatures as a tf.train.Example, bytes."""
    return records.encode_example(
        {"unique_ids": [feature.unique_id]}
    ) + _encode_window(feature, is_training)


def _encode_window(feature, is_training):
    """Serializes an InputFeatures but for its id."""
    values = {
        "input_ids": feature.input_ids,
        "input_mask": feature.input_mask,
        "segment_ids": feature.segment_ids,
    }
    if is_training:
        values["start_positions"] = [feature.start_position]
        values["end_positions"] = [feature.end_position]
        values["is_impossible"] = [int(feature.is_impossible)]
    return records.encode_example(values)


def _encode_windows(numbered_examples, is_training, **settings):
    """Yields the serialized windows of (number, example) pairs, but for ids."""
    for feature in create_windows(
        numbered_examples, is_training=is_training, **settings
    ):
        yield _encode_window(feature, is_training)
