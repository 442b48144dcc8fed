"""Texts of many windows asked of SavedModels, against the Python path."""

import dataclasses

import pytest
import tensorflow as tf

import modeling
from data.ner import reading, windows
from data.squad import decoding as squad_decoding
from data.squad import reading as squad_reading
from data.squad.windows import create_features
from serving.squad import export_span_labeler
from tests.data.squad.test_windows_layer import check_bytes
from tests.serving.conftest import (
    DECODING,
    LENGTH,
    TAGS,
    TEXTS,
    TOKENIZER,
    WINDOWS,
    create_model,
)


def call(model, features):
    """Returns a model's outputs for a list of features."""
    return model(
        {
            name: tf.constant([getattr(f, name) for f in features], tf.int32)
            for name in ("input_ids", "input_mask", "segment_ids")
        }
    )


def test_answer(exports):
    served = exports["squad"]
    inputs = served.requests[0][1]
    found = {k: v.tolist() for k, v in served.outputs[0].items()}
    examples = [
        squad_reading.SquadExample(
            str(i),
            question,
            squad_reading.WORD.findall(context),
            context=context,
        )
        for i, (question, context) in enumerate(
            zip(inputs["question"], inputs["context"], strict=True)
        )
    ]
    features = list(
        create_features(examples, served.tokenizer, WINDOWS, is_training=False)
    )
    logits = call(served.model, features)
    results = [
        squad_decoding.RawResult(feature.unique_id, start, end)
        for feature, start, end in zip(
            features,
            logits["start_logits"].numpy(),
            logits["end_logits"].numpy(),
            strict=True,
        )
    ]
    answers, nbest, odds = squad_decoding.decode_predictions(
        examples, features, results, DECODING, served.tokenizer.basic_tokenizer
    )
    assert found["answer"] == list(answers.values())
    assert len({*found["answer"]}) > 2
    for row, (key, entries) in enumerate(nbest.items()):
        (probability,) = (
            entry["probability"]
            for entry in entries
            if entry["text"] == answers[key]
        )
        assert found["probability"][row] == pytest.approx(probability, abs=1e-5)
        check_bytes(
            inputs["context"][row], {k: v[row] for k, v in found.items()}
        )
    assert "" in answers.values()
    assert found["null_odds"] == pytest.approx(list(odds.values()), abs=1e-4)


def test_windows_longer_than_the_models_inputs_are_refused(tmp_path):
    model = create_model(modeling.BertSpanLabeler)
    windows = dataclasses.replace(WINDOWS, max_seq_length=33)
    with pytest.raises(ValueError, match="33 is more than the model's 32"):
        export_span_labeler(
            tmp_path / "model", model, TOKENIZER, windows, DECODING
        )
    assert not [*tmp_path.iterdir()]


def test_tag_words(exports):
    served = exports["ner"]
    found = served.outputs[0]
    examples = [
        reading.NerExample(str(i), text.split(), ["O"] * len(text.split()), i)
        for i, text in enumerate(TEXTS)
    ]
    features = list(
        windows.create_features(examples, TAGS, LENGTH, served.tokenizer)
    )
    logits = call(served.model, features).numpy()
    tags = windows.decode_predictions(examples, features, logits, TAGS, True)
    free = windows.decode_predictions(examples, features, logits, TAGS)
    assert free != tags
    assert len({tag for row in tags for tag in row}) > 2
    for row, example in enumerate(examples):
        count = len(example.words)
        assert found["num_words"][row] == count
        assert found["words"][row, :count].tolist() == example.words
        assert found["tags"][row, :count].tolist() == tags[row]
        assert not any(found["words"][row, count:])
        assert not any(found["tags"][row, count:])
        assert (found["probabilities"][row, :count] > 1 / len(TAGS)).all()
