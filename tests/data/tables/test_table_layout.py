"""The flags of a table's layout become a TableLayout."""

import pytest

from data.tables.table_layout import LayoutOptions, TableLayout


def test_without_flags_the_file_shows_its_layout():
    assert LayoutOptions().layout() == TableLayout()


def test_each_flag_is_a_field_of_the_layout():
    options = LayoutOptions(
        quoting=False,
        delimiter="tab",
        has_header=False,
        encoding="cp1252",
        sheet="Data",
    )
    assert options.layout() == TableLayout(
        quoting=False,
        delimiter="tab",
        has_header=False,
        encoding="cp1252",
        sheet="Data",
    )


@pytest.mark.parametrize("flag", [True, False])
def test_the_flag_of_the_header_overrides_the_command(flag):
    layout = LayoutOptions(has_header=flag).layout(has_header=None)
    assert layout.has_header is flag


@pytest.mark.parametrize("has_header", [True, False, None])
def test_without_the_flag_the_command_chooses_the_header(has_header):
    layout = LayoutOptions().layout(has_header=has_header)
    assert layout.has_header is has_header


def test_the_format_and_the_columns_are_those_of_the_command():
    layout = LayoutOptions().layout("csv", columns=["text", "label"])
    assert layout.format == "csv"
    assert layout.columns == ("text", "label")
