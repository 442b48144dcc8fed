"""A row of a table, or the error that replaces it."""

import pytest

from data.tables.numbered_rows import require_cells


def test_a_row_has_cells():
    assert require_cells({"text": "b"}, "a.csv, line 2") == {"text": "b"}


def test_a_malformed_row_is_an_error_that_names_its_place():
    with pytest.raises(ValueError, match=r"a\.csv, line 3: two cells"):
        require_cells(ValueError("two cells"), "a.csv, line 3")
