"""The vectors of texts, and the lines that contain them."""

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.text.tokenization import FullTokenizer
from tests.support.output_files import read_json_lines
from tests.support.paths import SAMPLES
from training.extraction import feature_extraction
from training.extraction.extract_features_config import ExtractFeaturesConfig


class IdPredictor:
    """Runs a network whose two blocks return ids, and ids times 10."""

    def predict(self, batches, description):
        for batch in batches:
            features = {name: np.asarray(batch[name]) for name in batch}
            ids = features["input_ids"][..., None].astype(np.float32)
            yield features, {"all_encoder_layers": [ids, ids * 10]}


@pytest.fixture(scope="module")
def tokenizer():
    """The tokenizer of the samples."""
    return FullTokenizer(SAMPLES / "vocab.txt")


def create_config(folder, **flags):
    """Returns the Config of a command that reads and writes in a folder."""
    return ExtractFeaturesConfig.from_values(
        input_file=str(folder / "in.txt"),
        output_file=str(folder / "out.jsonl"),
        init_checkpoint=str(folder),
        **flags,
    )


def test_read_examples_splits_a_line_into_a_text_or_a_pair(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(" The sea. \nA boat. ||| A harbor.\n")
    examples = feature_extraction.read_examples(str(path))
    assert [
        (example.guid, example.text_a, example.text_b) for example in examples
    ] == [
        (0, "The sea.", None),
        (1, "A boat.", "A harbor."),
    ]


def test_each_token_of_a_line_has_the_numbers_of_each_block():
    # Two blocks, two tokens, and vectors of one number.
    vectors = np.array([[[0.1], [0.2]], [[0.3], [1 / 3]]], np.float32)
    line = feature_extraction.format_features(7, ["a", "b"], [-1, -2], vectors)
    assert line == {
        "linex_index": 7,
        "features": [
            {
                "token": "a",
                "layers": [
                    {"index": -1, "values": [0.1]},
                    {"index": -2, "values": [0.3]},
                ],
            },
            {
                "token": "b",
                "layers": [
                    {"index": -1, "values": [0.2]},
                    {"index": -2, "values": [0.333333]},
                ],
            },
        ],
    }


def test_the_padding_that_all_texts_of_a_batch_share_is_removed(tokenizer):
    texts = [InputExample(0, "the sea")]
    lengths = []
    for trims_padding in (True, False):
        (features,) = feature_extraction.create_batches(
            texts,
            tokenizer,
            max_seq_length=32,
            batch_size=2,
            trims_padding=trims_padding,
        )
        lengths.append(features["input_ids"].shape)
    assert lengths == [(1, 16), (1, 32)]


def test_padding_has_no_vectors(tokenizer):
    ids = np.array([[5, 6, 0], [7, 8, 9]])
    batch = {"input_ids": ids, "input_mask": np.sign(ids)}
    texts = [
        *feature_extraction.compute_vectors(
            [batch], tokenizer, [-1, 0], IdPredictor()
        )
    ]
    assert texts[0].tokens == tokenizer.convert_ids_to_tokens([5, 6])
    assert [block.tolist() for block in texts[0].vectors] == [
        [[50], [60]],
        [[5], [6]],
    ]
    assert texts[1].tokens == tokenizer.convert_ids_to_tokens([7, 8, 9])


def test_lines_are_numbered_through_all_batches(tokenizer, tmp_path):
    (tmp_path / "in.txt").write_text("the sea\na boat\na river\n")
    config = create_config(tmp_path, batch_size=2)
    num_lines = feature_extraction.write_vectors(
        config, tokenizer, [-1], IdPredictor()
    )
    lines = read_json_lines(tmp_path / "out.jsonl")
    assert num_lines == len(lines) == 3
    assert [line["linex_index"] for line in lines] == [0, 1, 2]
    assert [token["token"] for token in lines[2]["features"]] == [
        "[CLS]",
        "a",
        "river",
        "[SEP]",
    ]
