"""Records that do not fit are refused, by file and flag."""

import contextlib
import math

import numpy as np
import pytest
import tensorflow as tf

from data.io import feature_specs, records, tfrecords
from tests.data.io.test_tfrecords import SPEC, write


def read_all(files, spec, message=None):
    """Reads all batches; expects an error, or none if `message` is None."""
    read = tfrecords.Records(files, feature_specs.bounded(spec, 100, 2))
    expected = pytest.raises(ValueError, match=message)
    with expected if message else contextlib.nullcontext():
        with tfrecords.naming_wrong_records([read]):
            for _ in tfrecords.create_dataset(read, 4, False):
                pass


def one_wrong(path, spec, name, value, others=None):
    """Writes 23 records, of which number 19 has one wrong value."""
    with records.RecordWriter([str(path)]) as writer:
        for number in range(23):
            example = tf.train.Example()
            for key, (shape, dtype, *_) in spec.items():
                values = [1] * math.prod(shape)
                if number == 19:
                    if key in (others or {}):
                        values = [others[key]] * len(values)
                    elif key == name and value is None:
                        values = [0] * len(values)
                    elif key == name:
                        values[-1] = value
                feature = example.features.feature[key]
                is_float = dtype == "float32"
                entry = feature.float_list if is_float else feature.int64_list
                entry.value.extend(values)
            writer.write(example.SerializeToString())
    return [str(path)]


PRETRAINING = feature_specs.pretraining_features(4, 2)
CLASSIFIER = feature_specs.classifier_features(4)
REGRESSION = feature_specs.classifier_features(4, "regression")
SQUAD = feature_specs.squad_features(4, is_training=True)
NER = feature_specs.ner_features(4)
SWAG = feature_specs.swag_features(4, 2)


@pytest.mark.parametrize(
    "spec, name, value",
    [
        *((PRETRAINING, "input_ids", value) for value in (-1, 100, 2**32 + 5)),
        (PRETRAINING, "masked_lm_ids", 1600),
        (PRETRAINING, "masked_lm_positions", 4),
        (PRETRAINING, "segment_ids", 9),
        (PRETRAINING, "next_sentence_labels", 5),
        *((PRETRAINING, "input_mask", value) for value in (7, None)),
        (PRETRAINING, "masked_lm_weights", np.nan),
        (CLASSIFIER, "label_ids", -1),
        (REGRESSION, "label_ids", np.nan),
        (SQUAD, "end_positions", -1),
        (NER, "label_weights", np.nan),
        (SWAG, "label_ids", 2),
    ],
)
def test_a_wrong_value_in_any_record_is_named(tmp_path, spec, name, value):
    files = one_wrong(tmp_path / "a.tfrecord", spec, name, value)
    read_all(files, spec, f"a.tfrecord, record 19: .*{name}")


def test_records_of_another_kind_behind_the_first_are_named(tmp_path):
    for spec, message in (
        (feature_specs.pretraining_features(8, 2), ".*Values size: 8"),
        (CLASSIFIER, ".*(masked_lm|next_sentence)"),
    ):
        one_wrong(tmp_path / "other.tfrecord", spec, "input_ids", 1)
        path = tmp_path / "both.tfrecord"
        other = (tmp_path / "other.tfrecord").read_bytes()
        path.write_bytes(
            open(write(tmp_path / "a", 0, 20), "rb").read() + other
        )
        read_all([str(path)], SPEC, f"both.tfrecord, record 20: {message}")


def test_padding_examples_and_labels_of_any_size_are_read(tmp_path):
    padding = {"is_real_example": 0, "input_ids": 0, "segment_ids": 0}
    path = tmp_path / "a.tfrecord"
    files = one_wrong(path, CLASSIFIER, "input_mask", None, padding)
    read_all(files, CLASSIFIER)
    read_all(one_wrong(path, REGRESSION, "label_ids", -1e9), REGRESSION)
    read_all(one_wrong(path, SQUAD, "unique_ids", 2**31 - 1), SQUAD)
