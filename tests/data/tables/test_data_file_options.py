"""The flags of --data_file."""

import dataclasses

import pytest

from command_line import flags
from command_line.declared_flags import flags_of
from command_line.path_flags import PathKind
from data.tables.data_file_options import DataFileOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """The flags of a script that splits a file."""

    data: DataFileOptions = flags.group(DataFileOptions)


DATA_FILE, DEV_FRACTION = flags_of(Config)


def test_the_file_is_an_input_that_a_user_may_leave_out():
    assert DATA_FILE.kind == PathKind.INPUT_FILE
    assert DATA_FILE.default is None


@pytest.mark.parametrize(
    ("fraction", "is_valid"),
    [(0.01, True), (0.9, True), (0, False), (0.95, False), (True, False)],
)
def test_neither_set_may_be_empty(fraction, is_valid):
    assert DEV_FRACTION.is_valid(fraction) == is_valid
