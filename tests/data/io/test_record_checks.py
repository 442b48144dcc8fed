"""Records that do not fit their spec: errors name the file and the record."""

import math

import numpy as np
import pytest
import tensorflow as tf

from data.io import feature_specs, record_checks
from data.io.record_datasets import Records, create_dataset
from data.io.tfrecords import RecordWriter


def read_all(files, spec):
    """Reads all batches, as a training or an evaluation does."""
    records = Records(files, feature_specs.with_id_bounds(spec, 100, 2))
    with record_checks.explain_record_errors([records]):
        for _ in create_dataset(records, 4, is_training=False):
            pass


def write_one_wrong_record(path, spec, **changed):
    """Writes 23 records of ones, of which number 19 has other values."""
    with RecordWriter([str(path)]) as writer:
        for number in range(23):
            example = tf.train.Example()
            for key, (shape, dtype, *_) in spec.items():
                value = changed.get(key, 1) if number == 19 else 1
                kind = "float_list" if dtype == "float32" else "int64_list"
                entry = getattr(example.features.feature[key], kind)
                entry.value.extend([value] * math.prod(shape))
            writer.write(example.SerializeToString())
    return [str(path)]


PRETRAINING = feature_specs.pretraining_spec(4, 2)
CLASSIFIER = feature_specs.classifier_spec(4)
REGRESSION = feature_specs.classifier_spec(4, "regression")
SQUAD = feature_specs.squad_spec(4, is_training=True)
NER = feature_specs.ner_spec(4)
SWAG = feature_specs.swag_spec(4, 2)


@pytest.mark.parametrize(
    ("spec", "name", "value"),
    [
        *((PRETRAINING, "input_ids", value) for value in (-1, 100, 2**32 + 5)),
        (PRETRAINING, "masked_lm_ids", 1600),
        (PRETRAINING, "masked_lm_positions", 4),
        (PRETRAINING, "segment_ids", 9),
        (PRETRAINING, "next_sentence_labels", 5),
        *((PRETRAINING, "input_mask", value) for value in (7, 0)),
        (PRETRAINING, "masked_lm_weights", np.nan),
        (CLASSIFIER, "label_ids", -1),
        (REGRESSION, "label_ids", np.nan),
        (SQUAD, "end_positions", -1),
        (NER, "label_weights", np.nan),
        (SWAG, "label_ids", 2),
    ],
)
def test_a_wrong_value_in_any_record_is_named(tmp_path, spec, name, value):
    changed = {name: value}
    files = write_one_wrong_record(tmp_path / "a.tfrecord", spec, **changed)
    with pytest.raises(ValueError, match=f"a.tfrecord, record 19: .*{name}"):
        read_all(files, spec)


PADDING = ("is_real_example", "input_ids", "input_mask", "segment_ids")


@pytest.mark.parametrize(
    ("spec", "changed"),
    [
        (CLASSIFIER, dict.fromkeys(PADDING, 0)),
        (REGRESSION, {"label_ids": -1e9}),
        (SQUAD, {"unique_ids": 2**31 - 1}),
    ],
    ids=["padding", "a large label", "a large id"],
)
def test_padding_examples_and_labels_of_any_size_are_read(
    tmp_path, spec, changed
):
    path = tmp_path / "a.tfrecord"
    read_all(write_one_wrong_record(path, spec, **changed), spec)


def test_the_first_records_of_each_file_are_checked(tmp_path):
    right = write_one_wrong_record(tmp_path / "right.tfrecord", CLASSIFIER)
    wrong = write_one_wrong_record(
        tmp_path / "wrong.tfrecord", CLASSIFIER, label_ids=-1
    )
    files = [*right, *wrong]
    record_checks.check_records(files, CLASSIFIER, limit=19)
    with pytest.raises(
        ValueError, match=r"wrong.tfrecord, record 19: 'label_ids'"
    ):
        record_checks.check_records(files, CLASSIFIER, limit=20)


def test_records_of_another_length_are_found(tmp_path):
    files = write_one_wrong_record(tmp_path / "a.tfrecord", CLASSIFIER)
    spec = feature_specs.classifier_spec(8)
    with pytest.raises(
        ValueError, match=r"a.tfrecord, record 0: .*--max_seq_length"
    ):
        record_checks.check_records(files, spec)


def test_files_without_records_are_named(tmp_path):
    path = str(tmp_path / "empty.tfrecord")
    with RecordWriter([path]):
        pass
    with pytest.raises(ValueError, match=r"no record in .*empty.tfrecord"):
        record_checks.check_records([path], CLASSIFIER)


def test_an_error_that_is_not_about_a_record_stays_as_it_is():
    error = tf.errors.InvalidArgumentError(None, None, "shapes differ")
    missing = Records(["missing.tfrecord"], CLASSIFIER)
    with (
        pytest.raises(tf.errors.InvalidArgumentError, match="shapes differ"),
        record_checks.explain_record_errors([missing]),
    ):
        raise error
