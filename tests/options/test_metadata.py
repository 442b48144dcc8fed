"""What the fields of a Config state about their flags and groups."""

import dataclasses

from options.metadata import (
    declaration_of,
    group_of,
    is_option,
    list_repeated_options,
)
from tests.support.flag_groups import Config, Loop, Windows

FIELDS = {field.name: field for field in dataclasses.fields(Config)}


def test_a_field_is_a_flag_or_a_group():
    assert is_option(FIELDS["name"])
    assert group_of(FIELDS["name"]) is None
    assert not is_option(FIELDS["loop"])
    assert group_of(FIELDS["loop"]).group_class is Loop


def test_a_flag_records_its_help():
    assert declaration_of(FIELDS["name"]).help == "Name."


def test_a_group_defines_no_flag_that_another_group_shares_with_it():
    names = [field.name for field in group_of(FIELDS["loop"]).own_fields()]
    assert names == ["steps", "folder"]


def test_a_group_gets_the_values_of_its_own_and_its_shared_flags():
    loop = group_of(FIELDS["loop"])
    assert loop.names_with_values() == {"steps", "folder", "length"}
    windows = group_of(FIELDS["windows"])
    assert windows.names_with_values() == {"length"}


def test_a_flag_of_two_groups_is_repeated():
    fields = {field.name: field for field in dataclasses.fields(Windows)}
    assert list_repeated_options(FIELDS) == []
    assert list_repeated_options(FIELDS | fields) == ["length"]
