"""Command lines that are parsed, or that end the script with one line."""

import pytest
from absl import flags as absl_flags

from command_line.flags import parse_arguments


@pytest.fixture(autouse=True)
def flags(monkeypatch):
    """The flags of a script instead of those of the tests."""
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_string("input_file", None, "", values)
    absl_flags.DEFINE_float("learning_rate", 0.1, "", flag_values=values)
    absl_flags.DEFINE_integer("num_train_epochs", 3, "", flag_values=values)
    monkeypatch.setattr(absl_flags, "FLAGS", values)
    return values


def parse_script_arguments(*given, required=(), is_on_beam=False):
    """Parses the arguments of a script, and returns what are no flags."""
    return parse_arguments(
        ["script.py", *given], required, is_on_beam, "Does it."
    )


def error_of(capsys, *given, **options):
    """Returns the line with which wrong arguments end the script."""
    with pytest.raises(SystemExit) as ended:
        parse_script_arguments(*given, **options)
    assert ended.value.code == 1
    return capsys.readouterr().err.splitlines()[-1]


def test_flags_have_their_values_afterwards(flags):
    rest = parse_script_arguments(
        "--input_file=a.txt", "b.txt", "--learning_rate", "0.5"
    )
    assert rest == ["script.py", "b.txt"]
    assert flags.input_file == "a.txt"
    assert flags.learning_rate == 0.5


def test_an_unknown_flag_names_those_that_are_spelled_alike(capsys):
    error = error_of(capsys, "--input_fil=a")
    assert "input_fil" in error
    assert "input_file" in error
    assert error.endswith("(--help lists the flags)")


def test_an_unknown_flag_names_longer_ones_of_its_words(capsys):
    error = error_of(capsys, "--train_epochs=2")
    assert "; perhaps --num_train_epochs (--help" in error


def test_unknown_flags_may_be_those_of_another_program():
    rest = parse_script_arguments("--runner=DirectRunner", is_on_beam=True)
    assert rest == ["script.py", "--runner=DirectRunner"]


def test_a_value_of_another_type_ends_the_script(capsys):
    error = error_of(capsys, "--num_train_epochs=many")
    assert "--num_train_epochs=many" in error


def test_a_missing_flag_is_named(capsys):
    error = error_of(capsys, required=["input_file"])
    assert error == ("error: missing required flags: --input_file (see --help)")


def test_an_argument_without_a_name_is_suggested_for_the_missing_flag(capsys):
    error = error_of(capsys, "a.txt", required=["input_file"])
    assert "--input_file; perhaps --input_file=a.txt" in error


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_must_be_finite(capsys, value):
    error = error_of(capsys, f"--learning_rate={value}")
    assert error == f"error: --learning_rate={value} is not a finite number"


def test_help_is_printed_and_is_not_an_error(capsys):
    with pytest.raises(SystemExit) as ended:
        parse_script_arguments("--help")
    assert ended.value.code == 0
    assert "Does it." in capsys.readouterr().out
