"""Flags that several scripts share, checked among each other."""

import pytest

from command_line.groups import ExportFlags

INT8 = {"export_dir": "x", "quantize": "int8"}


def test_int8_is_litert_by_default():
    assert ExportFlags(**INT8).export_formats == ("litert",)


def test_int8_is_no_saved_model():
    with pytest.raises(ValueError, match="--export_format"):
        ExportFlags(**INT8, export_format="saved_model").check()


def test_int8_without_an_export_is_refused():
    with pytest.raises(ValueError, match="--quantize"):
        ExportFlags(quantize="int8").check()
