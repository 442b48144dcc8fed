"""Answers of exports of `run_squad.py --trim_padding`, without padding."""

import dataclasses

import numpy as np
import pytest

import modeling
import serving
from data.squad.decoding import DecodingOptions
from serving import squad
from tests.serving.conftest import (
    CASED_TOKENIZER,
    DECODING,
    QUESTIONS,
    WINDOWS,
    create_model,
)
from training.config import ExportConfig


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """{trim_padding: folder of an export}."""
    folder = tmp_path_factory.mktemp("trimmed")
    model = create_model(modeling.BertSpanLabeler)
    for trims in (False, True):
        squad.export_span_labeler(
            folder / str(trims),
            model,
            CASED_TOKENIZER,
            WINDOWS,
            dataclasses.replace(DECODING, trim_padding=trims),
            export_options=ExportConfig(
                export_dir="x",
                export_format="saved_model,litert" if trims else "litert",
            ),
        )
    return {trims: folder / str(trims) for trims in (False, True)}


@pytest.mark.parametrize("engine", ["litert", "saved_model"])
def test_padding_is_neither_computed_nor_a_candidate(engine, folders):
    bert = serving.load(folders[True], engine=engine)
    run, shapes, logits = bert.engine.run, [], []

    def record(features):
        outputs = run(features)
        shapes.append(features["input_ids"].shape)
        logits.append((features["input_mask"], outputs["start_logits"]))
        return outputs

    bert.engine.run = record
    together = bert.answer(*QUESTIONS.values(), n_best=5)
    # In this model some padding scores higher than the last candidate, so the
    # test would see it.
    assert any(
        values[mask == 0].max(initial=-np.inf)
        > np.sort(values[mask == 1])[-DECODING.n_best_size :].min()
        for masks, rows in logits
        for mask, values in zip(masks, rows, strict=True)
    )
    for number, expected in enumerate(together):
        question, context = (texts[number] for texts in QUESTIONS.values())
        alone = bert.answer(question, context, n_best=5)
        assert [each["answer"] for each in alone["n_best"]] == [
            each["answer"] for each in expected["n_best"]
        ]
        assert alone["probability"] == pytest.approx(
            expected["probability"], abs=1e-5
        )
    assert min(length for _, length in shapes) < WINDOWS.max_seq_length


def test_the_default_pads_as_google_does(folders):
    assert not DecodingOptions().trim_padding
    bert = serving.load(folders[False], engine="litert")
    run, lengths = bert.engine.run, set()

    def record(features):
        lengths.add(features["input_ids"].shape[1])
        return run(features)

    bert.engine.run = record
    bert.answer(*QUESTIONS.values())
    assert lengths == {WINDOWS.max_seq_length}
