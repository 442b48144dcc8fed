"""Scripts export the models they trained, and replace only older exports."""

import json
import os

import numpy as np
import pytest

from data.text import tokenization
from serving import engines
from tests import script_runner
from tests.checkpoints import serve
from tests.script_runner import parse_flags

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exported(tmp_path_factory, tiny, model_flags):
    """A folder with an export of each script that has not trained."""
    folder = tmp_path_factory.mktemp("exports")
    line = "Who sang in Ostrel? ||| On Thursday the singers sang for hours.\n"
    (folder / "lines.txt").write_text(line)
    commands = {
        "extract_features.py": """
            --input_file=lines.txt --output_file=features.jsonl --layers=-1
            --max_seq_length=40 --export_dir=encoder --export_version=12
        """,
        "run_pretraining.py": f"""
            --input_file={tiny}/train.tfrecord --output_dir=pretraining
            --max_seq_length=32 --max_predictions_per_seq=5
            --export_dir=pretrainer --export_version=1
        """,
    }
    commands = {x: model_flags | parse_flags(y) for x, y in commands.items()}
    del commands["run_pretraining.py"]["vocab_file"]
    for done in script_runner.run_all(
        [(script, folder, flags) for script, flags in commands.items()]
    ):
        done.check()
    # Versions are numbered folders and nothing else.
    assert os.listdir(folder / "encoder") == ["12"]
    assert os.listdir(folder / "pretrainer") == ["1"]
    return folder


def test_serves_what_the_script_computes(exported):
    line = json.loads((exported / "features.jsonl").read_text())
    values = [token["layers"][0]["values"] for token in line["features"]]
    tokens = [token["token"] for token in line["features"]]
    tokenizer = tokenization.FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    ids = tokenizer.convert_tokens_to_ids(tokens)
    pair = engines.Input(ids, tokens.index("[SEP]") + 1)
    one = engines.pack([pair], len(ids))
    found = serve(exported / "encoder/12", one)
    assert_close(found["sequence_output"], [values])
    assert found["pooled_output"].shape == (1, 32)

    found = serve(exported / "pretrainer/1", one)
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
