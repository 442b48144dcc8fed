"""The flags of an export, their defaults and their contradictions."""

import pytest

from serving.exporting.export_flags import ExportFlags


def test_an_export_is_a_saved_model_by_default():
    assert ExportFlags().export_formats == ("saved_model",)


def test_a_quantized_export_is_litert_by_default():
    assert ExportFlags(quantize="int8").export_formats == ("litert",)


def test_a_format_that_is_named_twice_is_written_once():
    flags = ExportFlags(export_format="litert, saved_model,litert")
    assert flags.export_formats == ("litert", "saved_model")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"export_format": "litert"}, "--export_format needs --export_dir"),
        ({"quantize": "int8"}, "--quantize needs --export_dir"),
        ({"export_dir": "x", "export_format": "tf"}, "'tf' is not a format"),
        (
            {
                "export_dir": "x",
                "export_format": "saved_model",
                "quantize": "int8",
            },
            "is not for --export_format=saved_model",
        ),
    ],
)
def test_flags_of_an_export_that_contradict_each_other(values, message):
    with pytest.raises(ValueError, match=message):
        ExportFlags(**values).check()


def test_an_export_without_flags_is_checked_silently():
    ExportFlags().check()
