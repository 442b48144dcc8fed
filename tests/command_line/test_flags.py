"""Flags that a user typed, apart from their values."""

import dataclasses
import sys

import pytest
from absl import flags as absl_flags

from command_line import flags
from tests.support.flag_groups import Config


def test_parsed_flags_list_which_ones_the_user_set(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/folder/script.py", "--folder=x"])
    values = absl_flags.FlagValues()
    monkeypatch.setattr(absl_flags, "FLAGS", values)
    for flag in Config.list_options():
        define = absl_flags.DEFINE_string
        default = flag.default
        if flag.value_type is int:
            define = absl_flags.DEFINE_integer
        if default is dataclasses.MISSING:
            default = None
        define(
            flag.name,
            default,
            "help",
            flag_values=values,
            module_name=flags.script_name(),
        )
    values(["script", "--folder=x", "--steps=5"])
    parsed = flags.create_parsed_command(Config)
    assert parsed.config == Config.from_values(folder="x")
    assert parsed.set_by_user == {"folder", "steps"}
    assert parsed.typed_values == {"folder": "x", "steps": 5}
    # model.json, which others may read, names no folder.
    assert parsed.script == "script.py"


@pytest.mark.parametrize(
    ("arguments", "is_requested"),
    [
        ("--pipeline=beam", True),
        ("--a --pipeline beam --runner b", True),
        ("-pipeline=Beam", True),
        ("--pipeline=local", False),
        ("--pipeline=beams", False),
        ("--pipeline --beam", False),
        ("--a=--pipeline=beam", False),
    ],
)
def test_beam_is_requested_by_the_flag_pipeline_only(arguments, is_requested):
    assert (
        flags.is_beam_requested(["run.py", *arguments.split()]) == is_requested
    )
