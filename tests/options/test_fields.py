"""Options of a script, in groups that the command line does not show."""

import dataclasses

from options.declared_options import options_of
from options.fields import group, option_changes
from tests.support.flag_groups import Config, Loop


def test_a_flag_may_have_another_default_in_a_script():
    defaults = {flag.name: flag.default for flag in options_of(Config)}
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

    (steps,) = (flag for flag in options_of(Other) if flag.name == "steps")
    assert steps.default == 2
    assert steps.help == "Steps."
    assert steps.properties["at_least"] == 1
