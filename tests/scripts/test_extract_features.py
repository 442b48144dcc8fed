"""extract_features.py, and its vectors against the blocks of the model."""

import json
import shutil
import types

import numpy as np
import pytest

import extract_features
import modeling
from data.text import tokenization
from serving import encoder
from tests import golden, script_runner
from tests.models import built, tiny_config
from tests.script_runner import read_lines

SCRIPT = "extract_features.py"


@pytest.mark.parametrize("case", golden.cases("extract_features"))
def test_golden_features(tmp_path, case):
    folder = case["folder"]
    paths = ("init_checkpoint", "bert_config_file", "vocab_file", "input_file")
    flags = {name: folder / case[name] for name in paths}
    for name in ("layers", "max_seq_length", "do_lower_case"):
        flags[name] = case[name]
    expected = read_lines(folder / case["features"])
    # Compiled, batches keep their padding.
    changes = [
        {"output_file": "0", "batch_size": 2, "projector_dir": "projector"},
        {"output_file": "1", "batch_size": 32, "jit_compile": True},
    ]
    for done in script_runner.run_each(SCRIPT, tmp_path, flags, changes):
        assert f"Wrote {len(expected)} lines" in done.check().stderr
    names, vectors = tokens_of(expected)
    shown = np.loadtxt(tmp_path / "projector" / "tokens.tsv", ndmin=2)
    np.testing.assert_allclose(shown, vectors[:, 0], rtol=0, atol=1e-5)
    for name in "01":
        lines = read_lines(tmp_path / name)
        for line, other in zip(lines, expected, strict=True):
            assert line["linex_index"] == other["linex_index"]
            assert len(line["features"]) == len(other["features"])
        found, values = tokens_of(lines)
        assert found == names
        np.testing.assert_allclose(values, vectors, rtol=0, atol=1e-5)


def tokens_of(lines):
    """Returns each token with its layers' numbers, and [tokens, L, W]."""
    tokens = [token for line in lines for token in line["features"]]
    return (
        [(x["token"], [y["index"] for y in x["layers"]]) for x in tokens],
        np.array([[y["values"] for y in x["layers"]] for x in tokens]),
    )


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """The folder of a random model of five blocks, its flags and the model.

    The flags are those of a text of three lines, of which `all.jsonl` has the
    vectors of all blocks.
    """
    folder = tmp_path_factory.mktemp("deep")
    config = tiny_config(vocab_size=1600, num_hidden_layers=5)
    model = built(modeling.BertModel(config, seed=3))
    modeling.save_checkpoint(model, folder / "bert_model.ckpt")
    (folder / "bert_config.json").write_text(config.to_json_string())
    lines = ["The river is red", "A boat ||| the water", ""]
    (folder / "input.txt").write_text("\n".join(lines) + "\n")
    flags = {
        "init_checkpoint": folder / "bert_model.ckpt",
        "bert_config_file": folder / "bert_config.json",
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "input_file": folder / "input.txt",
        "max_seq_length": 16,
        "pooled": True,
    }
    weighted = {
        "output_file": "made.npz",
        "output_format": "npz",
        "token_features": "sum_last_four",
        "layer_weights": "0.5,0.25,0.125,2.0",
    }
    blocks = {"output_file": "all.jsonl", "layers": "0,1,2,3,4"}
    for done in script_runner.run_each(
        SCRIPT, folder, flags, (blocks, weighted)
    ):
        done.check()
    return folder, flags, model


def create_batches(flags, length, batch_size):
    return [
        *encoder.create_batches(
            extract_features.read_examples(str(flags["input_file"])),
            tokenization.FullTokenizer(flags["vocab_file"]),
            length,
            batch_size,
            trim=True,
        )
    ]


def test_texts_that_were_cut_are_counted(deep, caplog):
    caplog.set_level("INFO", logger="absl")
    _, flags, _ = deep
    for length in (4, 16):
        assert len(create_batches(flags, length, batch_size=2)) == 2
    assert [x for x in caplog.messages if "cut" in x] == [
        "2 of 3 texts were longer than --max_seq_length=4 and were cut"
    ]


def test_a_left_to_right_network_stays_one(deep, tmp_path):
    folder, flags, _ = deep
    shutil.copytree(folder, tmp_path / "run")
    settings = json.dumps({"left_to_right": True})
    (tmp_path / "run/run_settings.json").write_text(settings)
    flags = flags | {"init_checkpoint": tmp_path / "run"}
    flags["output_file"] = tmp_path / "found.jsonl"
    script_runner.run(SCRIPT, tmp_path, **flags).check()
    first = [line["features"][0] for line in read_lines(flags["output_file"])]
    # [CLS] sees nothing of the texts.
    assert first[0] == first[1] == first[2]


def test_one_vector_a_token_goes_to_arrays(deep):
    folder, *_ = deep
    lines = read_lines(folder / "all.jsonl")
    names, blocks = tokens_of(lines)
    with np.load(folder / "made.npz") as made:
        assert made["layers"].tolist() == ["sum_last_four"]
        counts = [len(line["features"]) for line in lines]
        assert np.diff(made["offsets"]).tolist() == counts
        assert made["tokens"].tolist() == [token for token, _ in names]
        assert made["values"].dtype == np.float32
        expected = np.einsum("l,nlw->nw", [0.5, 0.25, 0.125, 2], blocks[:, 1:])
        for name, values, tolerance in (
            ("values", expected[:, None], 2e-5),
            ("pooled", [line["pooled"] for line in lines], 2e-6),
        ):
            np.testing.assert_allclose(
                made[name], values, rtol=0, atol=tolerance
            )


@pytest.mark.parametrize(
    "name, combine",
    [
        ("last", lambda blocks: blocks[:, 4]),
        ("second_to_last", lambda blocks: blocks[:, 3]),
        ("sum_last_four", lambda blocks: blocks[:, 1:].sum(1)),
        ("concat_last_four", lambda blocks: blocks[:, 1:].reshape(-1, 4 * 16)),
        ("sum_all", lambda blocks: blocks.sum(1)),
        ("embeddings", None),
    ],
)
def test_one_vector_a_token_as_the_paper_makes_them(deep, name, combine):
    folder, flags, model = deep
    options = types.SimpleNamespace(token_features=name, layer_weights=None)
    extractor = encoder.TokenFeatures(
        model, *extract_features.parse_layers(options, 5)
    )
    (batch,) = create_batches(flags, flags["max_seq_length"], batch_size=3)
    vectors = extractor(batch)[0].numpy()[:, 0]
    found = vectors[batch["input_mask"].numpy() == 1]
    _, blocks = tokens_of(read_lines(folder / "all.jsonl"))
    if name == "embeddings":
        # Before any block a word is the same wherever it stands, but for its
        # position: [CLS] is always the first.
        first = vectors[:, 0]
        np.testing.assert_allclose(first, first[[0, 0, 0]], atol=1e-6)
        assert np.abs(found - blocks[:, 0]).max() > 0.1
    else:
        np.testing.assert_allclose(found, combine(blocks), rtol=0, atol=2e-5)
