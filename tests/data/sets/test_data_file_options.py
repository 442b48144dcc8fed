"""The flags of a file that a script splits into sets."""

import dataclasses

import pytest

from data.sets.data_file_options import DataFileOptions
from options import fields
from options.config import Config
from options.fields import PathType


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Config):
    """The flags of a script that splits a file."""

    data: DataFileOptions = fields.group(DataFileOptions)


DATA_FILE, DEV_FRACTION = Config.list_options()


def test_the_file_is_an_input_that_a_user_may_leave_out():
    assert DATA_FILE.path_type == PathType.INPUT_FILE
    assert DATA_FILE.default is None


@pytest.mark.parametrize(
    ("fraction", "is_valid"),
    [(0.01, True), (0.9, True), (0, False), (0.95, False), (True, False)],
)
def test_neither_set_may_be_empty(fraction, is_valid):
    assert DEV_FRACTION.is_valid(fraction) == is_valid
