"""The options of SQuAD, as model.json records them."""

import dataclasses

from data.squad.squad_options import (
    DecodingOptions,
    WindowOptions,
    parse_options,
    to_settings,
)


def test_an_export_records_every_option():
    windows = WindowOptions(max_seq_length=100, doc_stride=20)
    decoding = DecodingOptions(n_best_size=7, trim_padding=True)
    fields = {**dataclasses.asdict(windows), **dataclasses.asdict(decoding)}
    assert to_settings(windows, decoding) == fields


def test_recorded_options_come_back():
    windows = WindowOptions(max_query_length=9, use_char_offsets=True)
    decoding = DecodingOptions(null_score_diff_threshold=-1.5)
    settings = {**to_settings(windows, decoding), "labels": ["x"]}
    assert parse_options(WindowOptions, settings) == windows
    assert parse_options(DecodingOptions, settings) == decoding
