import json

import numpy as np
import pytest

import extract_features
import modeling
from data.text import tokenization
from serving import features
from tests import golden, script_runner


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("case", golden.cases("extract_features"))
def test_golden_features(tmp_path, case):
    folder = case["folder"]
    paths = ("init_checkpoint", "bert_config_file", "vocab_file", "input_file")
    flags = {name: folder / case[name] for name in paths}
    flags |= {
        name: case[name]
        for name in ("layers", "max_seq_length", "do_lower_case")
    }
    expected = read_lines(folder / case["features"])
    # Compiled, batches keep their padding.
    variants = [
        {"batch_size": 2, "projector_dir": "projector"},
        {"batch_size": 32, "jit_compile": True},
    ]
    runs = script_runner.run_all(
        [
            (
                "extract_features.py",
                tmp_path,
                {**flags, "output_file": f"made/{number}", **variant},
            )
            for number, variant in enumerate(variants)
        ]
    )
    vectors = np.loadtxt(tmp_path / "projector" / "tokens.tsv", ndmin=2)
    shown = [
        token["layers"][0]["values"]
        for line in expected
        for token in line["features"]
    ]
    np.testing.assert_allclose(vectors, shown, rtol=0, atol=1e-5)
    for number, done in enumerate(runs):
        assert f"Wrote {len(expected)} lines" in done.check().stderr
        lines = read_lines(tmp_path / "made" / str(number))
        assert len(lines) == len(expected)
        for line, other in zip(lines, expected, strict=True):
            assert line["linex_index"] == other["linex_index"]
            assert len(line["features"]) == len(other["features"])
            for token, same in zip(
                line["features"], other["features"], strict=True
            ):
                assert token["token"] == same["token"]
                for name in ("index", "values"):
                    np.testing.assert_allclose(
                        [layer[name] for layer in token["layers"]],
                        [layer[name] for layer in same["layers"]],
                        rtol=0,
                        atol=1e-5,
                    )


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """Flags of a random model of five blocks, and a text of three lines."""
    folder = tmp_path_factory.mktemp("deep")
    config = modeling.BertConfig(
        vocab_size=1600,
        hidden_size=16,
        num_hidden_layers=5,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=32,
        initializer_range=0.3,
    )
    model = modeling.BertModel(config, seed=3)
    model.build()
    modeling.save_checkpoint(model, folder / "bert_model.ckpt")
    (folder / "bert_config.json").write_text(config.to_json_string())
    lines = ["The river is red", "A boat ||| the water", ""]
    (folder / "input.txt").write_text("\n".join(lines) + "\n")
    return folder, {
        "init_checkpoint": folder / "bert_model.ckpt",
        "bert_config_file": folder / "bert_config.json",
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "input_file": folder / "input.txt",
        "max_seq_length": 16,
        "pooled": True,
    }


@pytest.fixture(scope="module")
def blocks(deep):
    """Returns the output for all blocks: its lines, and [tokens, L, W]."""
    folder, flags = deep
    script_runner.run(
        "extract_features.py",
        folder,
        **flags,
        output_file="all.jsonl",
        layers="0,1,2,3,4",
    ).check()
    lines = read_lines(folder / "all.jsonl")
    tokens = [token for line in lines for token in line["features"]]
    return lines, np.array(
        [[layer["values"] for layer in token["layers"]] for token in tokens]
    )


def test_one_vector_a_token_goes_to_arrays(deep, blocks):
    folder, flags = deep
    lines, blocks = blocks
    weights = [0.5, 0.25, 0.125, 2.0]
    script_runner.run(
        "extract_features.py",
        folder,
        **flags,
        output_file="made.npz",
        output_format="npz",
        token_features="sum_last_four",
        layer_weights=",".join(map(str, weights)),
    ).check()
    with np.load(folder / "made.npz") as made:
        assert made["layers"].tolist() == ["sum_last_four"]
        counts = [len(line["features"]) for line in lines]
        assert np.diff(made["offsets"]).tolist() == counts
        assert made["tokens"].tolist() == [
            token["token"] for line in lines for token in line["features"]
        ]
        assert made["values"].dtype == np.float32
        np.testing.assert_allclose(
            made["values"][:, 0],
            np.einsum("l,nlw->nw", weights, blocks[:, 1:]),
            rtol=0,
            atol=2e-5,
        )
        np.testing.assert_allclose(
            made["pooled"],
            [line["pooled"] for line in lines],
            rtol=0,
            atol=2e-6,
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
def test_one_vector_a_token_as_the_paper_makes_them(
    deep, blocks, name, combine
):
    folder, flags = deep
    model = modeling.BertModel(modeling.load_config(flags["bert_config_file"]))
    model.build()
    modeling.load_checkpoint(model, flags["init_checkpoint"])
    extractor = features.TokenFeatures(
        model,
        extract_features.parse_features(name, "0", 5),
        extract_features.parse_weights(None, name, 5),
    )
    (batch,) = features.create_batches(
        extract_features.read_examples(str(flags["input_file"])),
        tokenization.FullTokenizer(flags["vocab_file"]),
        flags["max_seq_length"],
        batch_size=3,
        trim=True,
    )
    vectors, _ = extractor(batch)
    is_token = batch["input_mask"].numpy() == 1
    found = vectors.numpy()[:, 0][is_token]
    if name == "embeddings":
        # Before any block a word is the same wherever it stands, but for its
        # position: [CLS] is always the first.
        first = vectors.numpy()[:, 0, 0]
        np.testing.assert_allclose(first, first[[0, 0, 0]], atol=1e-6)
        assert np.abs(found - blocks[1][:, 0]).max() > 0.1
    else:
        np.testing.assert_allclose(found, combine(blocks[1]), rtol=0, atol=2e-5)


def test_flags_that_do_not_fit_are_named(deep):
    folder, flags = deep
    cases = [
        (
            {"token_features": "sum_all", "layer_weights": "1,2"},
            "--layer_weights=1,2 must be 5 finite numbers with "
            "--token_features=sum_all",
        ),
        (
            {"token_features": "sum_last_four", "layer_weights": "1,nan,1,1"},
            "--layer_weights=1,nan,1,1 must be 4 finite numbers",
        ),
        (
            {"layer_weights": "1,2,3,4"},
            "--layer_weights=1,2,3,4 must be left out with "
            "--token_features=layers",
        ),
        ({"layers": "-1,7"}, "--layers=-1,7: '7' is not one of the model's"),
    ]
    done = script_runner.run_all(
        [
            (
                "extract_features.py",
                folder,
                flags | {"output_file": "no.npz"} | more,
            )
            for more, _ in cases
        ]
    )
    for each, (_, message) in zip(done, cases, strict=True):
        assert message in each.error
    assert not (folder / "no.npz").exists()
