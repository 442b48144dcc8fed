"""The options and the flags of an export, and which contradict each other."""

import pytest
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from exporting.export_options import ExportFormatOptions, ExportOptions
from tests.support.paths import ROOT

VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"


def test_a_tokenizer_that_keeps_special_tokens_is_refused():
    keeping = FullTokenizer(VOCAB, special_tokens_in_strings=True)
    with pytest.raises(ValueError, match="special_tokens_in_strings"):
        ExportOptions(tokenizer=keeping)


def test_texts_become_inputs_of_the_maximum_length():
    tokenizer = FullTokenizer(VOCAB)
    packing = ExportOptions(tokenizer=tokenizer, max_seq_length=16).packing
    assert packing(tf.constant(["the boat"]))["input_ids"].shape == (1, 16)


def test_an_export_is_a_saved_model_by_default():
    assert ExportFormatOptions().export_formats == ("saved_model",)


def test_a_quantized_export_is_litert_by_default():
    assert ExportFormatOptions(quantize="int8").export_formats == ("litert",)


def test_a_format_that_is_named_twice_is_written_once():
    options = ExportFormatOptions(export_format="litert, saved_model,litert")
    assert options.export_formats == ("litert", "saved_model")


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
def test_flags_of_an_export_that_contradict_each_other_are_refused(
    values, message
):
    with pytest.raises(ValueError, match=message):
        ExportFormatOptions(**values).check()


def test_an_export_without_flags_is_checked_silently():
    ExportFormatOptions().check()
