"""How model.json identifies the sets of a run."""

from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from training.dev_set.set_fingerprints import (
    SetFingerprint,
    set_fingerprints_of,
)


def run_with(**inputs):
    """Returns the Preset of a run that recorded these inputs."""
    return Preset("run", training_settings=TrainingSettings(inputs=inputs))


def test_set_fingerprints_have_the_names_of_a_runs_files():
    preset = run_with(data=[["train", "rows.csv", 98, 7]])
    assert set_fingerprints_of(preset) == {
        "train": SetFingerprint("train", "rows.csv", 98, 7)
    }


def test_an_entry_of_a_set_that_is_too_short_is_skipped():
    """Another program may have written it."""
    preset = run_with(data=[("train",), ("eval", "rows.csv", 2, 7)])
    assert set_fingerprints_of(preset) == {
        "eval": SetFingerprint("eval", "rows.csv", 2, 7)
    }


def test_sets_of_the_same_rows_may_be_in_other_files():
    fingerprint = SetFingerprint("train", "a.csv", 9, checksum=7)
    assert fingerprint.has_rows_of(
        SetFingerprint("eval", "b.csv", 9, checksum=7)
    )


def test_sets_of_another_checksum_have_other_rows():
    fingerprint = SetFingerprint("train", "a.csv", 9, checksum=7)
    assert not fingerprint.has_rows_of(fingerprint._replace(checksum=8))
    assert not fingerprint.has_rows_of(None)
