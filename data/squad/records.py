"""Encodes SQuAD's windows as records, optionally in several processes."""

import functools
from collections.abc import Iterable, Iterator

from data.io import records, workers
from data.squad.reading import SquadExample
from data.squad.windows import (
    FIRST_UNIQUE_ID,
    SquadFeatures,
    WindowOptions,
    create_windows,
)
from data.text.tokenization import FullTokenizer


def create_records(
    examples: Iterable[SquadExample],
    tokenizer: FullTokenizer,
    options: WindowOptions,
    is_training: bool,
    num_processes: int = 1,
) -> Iterator[bytes]:
    """Yields each window as a serialized tf.train.Example, in order.

    Args:
        examples: iterable of SquadExamples.
        tokenizer: a FullTokenizer.
        options: WindowOptions.
        is_training: whether answers are looked up.
        num_processes: int, processes that make windows, 0 = one for each
            processor; the records are the same for any number.
    """
    encode_windows = functools.partial(
        _encode_windows,
        tokenizer=tokenizer,
        options=options,
        is_training=is_training,
    )
    windows = workers.generate(
        encode_windows, enumerate(examples), num_processes
    )
    for unique_id, window in enumerate(windows, FIRST_UNIQUE_ID):
        # Two concatenated messages are parsed as their union.
        yield records.encode_example({"unique_ids": [unique_id]}) + window


def encode_squad_features(feature: SquadFeatures, is_training: bool) -> bytes:
    """Serializes SquadFeatures as a tf.train.Example."""
    return records.encode_example(
        {"unique_ids": [feature.unique_id]}
    ) + _encode_window(feature, is_training)


def _encode_window(feature: SquadFeatures, is_training: bool) -> bytes:
    """Serializes SquadFeatures except for the id."""
    values: dict[str, list] = {
        "input_ids": feature.input_ids,
        "input_mask": feature.input_mask,
        "segment_ids": feature.segment_ids,
    }
    if is_training:
        values["start_positions"] = [feature.start_position]
        values["end_positions"] = [feature.end_position]
        values["is_impossible"] = [int(bool(feature.is_impossible))]
    return records.encode_example(values)


def _encode_windows(
    numbered_examples: Iterable[tuple[int, SquadExample]],
    tokenizer: FullTokenizer,
    options: WindowOptions,
    is_training: bool,
) -> Iterator[bytes]:
    """Yields the serialized windows of (number, example) pairs, without ids."""
    for feature in create_windows(
        numbered_examples, tokenizer, options, is_training
    ):
        yield _encode_window(feature, is_training)
