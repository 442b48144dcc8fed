"""Scripts export the models that they trained, and others."""

import json
import os

import numpy as np
import pytest

from data.text import tokenization
from serving import engines
from tests import script_runner
from tests.checkpoints import serve
from tests.script_runner import parse_flags


@pytest.mark.slow
def test_models_are_exported_without_a_training(tmp_path, tiny, model_flags):
    line = "Who sang in Ostrel? ||| On Thursday the singers sang for hours.\n"
    (tmp_path / "lines.txt").write_text(line)
    flags = parse_flags("""
        --input_file=lines.txt --output_file=features.jsonl --layers=-1
        --max_seq_length=40 --export_dir=encoder --export_version=12
    """)
    flags |= model_flags
    script_runner.run("extract_features.py", tmp_path, **flags).check()
    # Versions are numbered folders and nothing else.
    assert os.listdir(tmp_path / "encoder") == ["12"]
    line = json.loads((tmp_path / "features.jsonl").read_text())
    values = [token["layers"][0]["values"] for token in line["features"]]
    tokens = [token["token"] for token in line["features"]]
    tokenizer = tokenization.FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    ids = tokenizer.convert_tokens_to_ids(tokens)
    pair = engines.Input(ids, tokens.index("[SEP]") + 1)
    one = engines.pack([pair], len(ids))
    found = serve(tmp_path / "encoder/12", one)
    assert_close(found["sequence_output"], [values])
    assert found["pooled_output"].shape == (1, 32)

    flags = parse_flags(f"""
        --input_file={tiny}/train.tfrecord --output_dir=pretraining
        --max_seq_length=32 --max_predictions_per_seq=5
        --export_dir=pretrainer --export_version=1
    """)
    flags |= model_flags | {"vocab_file": None}
    script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert os.listdir(tmp_path / "pretrainer") == ["1"]
    found = serve(tmp_path / "pretrainer/1", one)
    masked = found["masked_lm_probabilities"]
    following = found["next_sentence_probabilities"]
    assert masked.shape == (1, len(ids), 1600) and following.shape == (1, 2)
    assert_close(masked.sum(-1), np.ones([1, len(ids)]))
    assert_close(following.sum(-1), [1])


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_vocabulary_and_labels_go_with_it(tiny, classified):
    folder, _ = classified
    extra = folder / "export" / "assets.extra"
    vocab = (folder / "words.txt").read_bytes()
    assert (extra / "vocab.txt").read_bytes() == vocab
    assert (extra / "labels.txt").read_text() == "0\n1\n"
    card = (folder / "export/README.md").read_text()
    assert "0. `0`\n1. `1`\n" in card and "Text: lower-cased" in card
    assert "| train_records | train.tf_record |" in card
    for path in (folder, tiny, script_runner.SAMPLES):
        assert str(path) not in card
    assert not [*folder.glob("export.*")]
