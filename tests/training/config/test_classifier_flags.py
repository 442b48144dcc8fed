"""The flags of run_classifier.py for GLUE, long texts and class weights."""

import dataclasses

import pytest

from command_line import flags
from command_line.declared_flags import flags_of
from command_line.path_flags import PathKind
from training.config.classifier_flags import ClassifierFlags


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """The flags of a script that classifies texts."""

    classifier: ClassifierFlags = flags.group(ClassifierFlags)


FLAG_OF_NAME = {flag.name: flag for flag in flags_of(Config)}


@pytest.mark.parametrize(
    ("name", "value", "is_valid"),
    [
        ("xnli_language", "ur", True),
        ("xnli_language", "it", False),
        ("class_weights", "balanced", True),
        ("class_weights", "sqrt", False),
        ("doc_stride", 0, True),
        ("doc_stride", -1, False),
        ("contrastive_temperature", 0.001, True),
        ("contrastive_temperature", 0.0, False),
    ],
)
def test_a_flag_has_its_choices_and_bounds(name, value, is_valid):
    assert FLAG_OF_NAME[name].is_valid(value) == is_valid


def test_a_class_of_a_user_is_code_that_runs():
    assert FLAG_OF_NAME["processor"].kind == PathKind.CODE
