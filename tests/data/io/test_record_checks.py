"""Records that do not fit are refused, by file and flag."""

import pytest

from data.io import feature_specs, record_checks, tfrecords
from tests.data.io.test_tfrecords import SPEC, write


def test_check_records_compares_with_the_flags(tmp_path):
    path = write(tmp_path / "a.tfrecord", 0, 1)
    record_checks.check_records([path], SPEC)
    longer = feature_specs.pretraining_features(8, 2)
    more = feature_specs.pretraining_features(4, 3)
    for spec, message in (
        (longer, "--max_seq_length=8; give .*=4"),
        (more, "--max_predictions_per_seq=3; give .*=2"),
        (feature_specs.classifier_features(4), "no feature 'label_ids'"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            record_checks.check_records([path], spec)
        assert path in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no record"),
        (b"x" * 10, "truncated"),
        (b"x" * 99, "not a TFR"),
    ],
)
def test_check_records_names_bad_files(tmp_path, data, message):
    path = tmp_path / "bad.tfrecord"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"bad.tfrecord: .*{message}"):
        record_checks.check_records([str(path)], SPEC)


def test_a_corrupt_record_met_while_reading_is_named(tmp_path):
    files = [write(tmp_path / f"{i}.tfrecord", 0, 7) for i in range(3)]
    with open(files[1], "r+b") as file:
        file.seek(-9, 2)
        file.write(b"?")
    with (
        pytest.raises(ValueError, match="1.tfrecord: the record at byte"),
        record_checks.naming_corrupt_files(files),
    ):
        list(tfrecords.create_dataset(tfrecords.Records(files, SPEC), 4, False))
