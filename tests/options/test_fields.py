"""What the fields of a Config state about their options and groups."""

import dataclasses

from options.fields import (
    declaration_of,
    group,
    group_of,
    is_option,
    option_changes,
)
from tests.support.flag_groups import Config, Loop

FIELDS = {field.name: field for field in dataclasses.fields(Config)}


def test_a_flag_may_have_another_default_in_a_script():
    defaults = {flag.name: flag.default for flag in Config.list_options()}
    required = dataclasses.MISSING
    assert defaults == {
        "steps": 5,
        "folder": required,
        "length": 384,
        "name": None,
    }


def test_a_script_may_change_a_group_of_its_base_class():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Other(Config):
        loop: Loop = group(
            Loop,
            steps=option_changes(default=2, help="Steps."),
            shared=("length",),
        )

    (steps,) = (flag for flag in Other.list_options() if flag.name == "steps")
    assert steps.default == 2
    assert steps.help == "Steps."
    assert steps.properties["at_least"] == 1


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
