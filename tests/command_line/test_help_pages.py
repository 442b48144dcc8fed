"""--help and --helpfull print the flags, in sections."""

import re

import pytest
from absl import flags as absl_flags

from command_line import help_pages

SCRIPT = "script.py"


@pytest.fixture
def define(monkeypatch):
    """Function (names) that defines flags of a script, its only ones."""
    values = absl_flags.FlagValues()
    monkeypatch.setattr(absl_flags, "FLAGS", values)

    def define_flags(names):
        for name in names:
            absl_flags.DEFINE_string(
                name,
                None,
                "Help.",
                flag_values=values,
                module_name=SCRIPT,
            )

    return define_flags


# More flags than one page shows.
MANY = [f"rare_{number}" for number in range(40)]


def test_help_of_a_small_script_lists_all_flags(define, capsys):
    define(["data_dir", "bilstm"])
    help_pages.print_help("Does it.", SCRIPT, is_full=False)
    printed = capsys.readouterr().out
    assert printed.startswith("Does it.\n")
    assert "--data_dir" in printed
    assert "--bilstm" in printed


def test_help_of_a_large_script_lists_what_most_commands_need(define, capsys):
    define(["data_dir", *MANY])
    help_pages.print_help("Does it.", SCRIPT, is_full=False)
    printed = capsys.readouterr().out
    assert "\ndata:\n" in printed
    assert "--data_dir" in printed
    assert re.findall(r"--\w+", printed) == ["--data_dir", "--helpfull"]
    assert printed.endswith("--helpfull also lists 40 other flags.\n")


def test_full_help_lists_all_flags(define, capsys):
    define(["data_dir", *MANY])
    help_pages.print_help("Does it.", SCRIPT, is_full=True)
    printed = capsys.readouterr().out
    assert all(f"--{name}:" in printed for name in ["data_dir", *MANY])


def test_a_flag_that_most_commands_need_has_a_section():
    assert help_pages.section_of("data_dir") == "data"
    assert help_pages.section_of("learning_rate") == "training"


def test_a_flag_is_in_one_section():
    names = [
        name for names in help_pages.FLAGS_OF_SECTION.values() for name in names
    ]
    assert len({*names}) == len(names)
    for title, names in help_pages.FLAGS_OF_SECTION.items():
        assert {help_pages.section_of(name) for name in names} == {title}


def test_a_flag_of_no_named_section_is_in_the_section_more():
    assert help_pages.section_of("bilstm") == "more"
