"""extract_features.py, and its vectors against the blocks of the model."""

import json
import os
import shutil

import numpy as np
import pytest

import extract_features
from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from options.parsed_command import ParsedCommand
from serving import engines
from tests.support import golden, script_runner
from tests.support.checkpoints import call_signature
from tests.support.output_files import read_json_lines
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags
from training.extraction.extract_features_config import ExtractFeaturesConfig


def extract_vectors(output_file, **flags):
    """Runs the script in this process, and returns the lines that it wrote."""
    paths = ("init_checkpoint", "bert_config_file", "vocab_file", "input_file")
    flags |= {name: str(flags[name]) for name in paths}
    config = ExtractFeaturesConfig.from_values(
        output_file=str(output_file), **flags
    )
    extract_features.main(ParsedCommand(config, flags))
    return read_json_lines(output_file)


@pytest.mark.parametrize("case", golden.case_params("extract_features"))
def test_vectors_are_those_of_googles_code(tmp_path, case):
    folder = case["folder"]
    paths = ("init_checkpoint", "bert_config_file", "vocab_file", "input_file")
    flags = {name: folder / case[name] for name in paths}
    for name in ("layers", "max_seq_length", "do_lower_case"):
        flags[name] = case[name]
    expected = read_json_lines(folder / case["features"])
    names, vectors = tokens_of(expected)
    # Compiled, batches keep their padding.
    for changes in ({"batch_size": 2}, {"jit_compile": True}):
        lines = extract_vectors(tmp_path / "found.jsonl", **flags, **changes)
        for line, other in zip(lines, expected, strict=True):
            assert line.keys() == other.keys()
            assert line["linex_index"] == other["linex_index"]
            assert len(line["features"]) == len(other["features"])
        tokens, values = tokens_of(lines)
        assert tokens == names
        np.testing.assert_allclose(values, vectors, rtol=0, atol=1e-5)


def tokens_of(lines):
    """Returns each token with its layers' numbers, and [tokens, L, W]."""
    tokens = [token for line in lines for token in line["features"]]
    return (
        [
            (token["token"], [layer["index"] for layer in token["layers"]])
            for token in tokens
        ],
        np.array(
            [[layer["values"] for layer in token["layers"]] for token in tokens]
        ),
    )


@pytest.fixture
def flags(model_flags, tmp_path):
    """Flags that read three lines with a copy of the pretrained model."""
    run = model_flags["init_checkpoint"].parent
    lines = ["The river is red", "A boat ||| the water", ""]
    (tmp_path / "input.txt").write_text("\n".join(lines) + "\n")
    return model_flags | {
        "init_checkpoint": shutil.copytree(run, tmp_path / "model"),
        "input_file": tmp_path / "input.txt",
        "max_seq_length": 16,
        "layers": "-1",
    }


def test_another_pooling_is_warned_of(flags, tmp_path, caplog):
    pooling = flags["init_checkpoint"] / "1_Pooling"
    pooling.mkdir()
    (pooling / "config.json").write_text('{"pooling_mode_cls_token": true}')
    extract_vectors(tmp_path / "found.jsonl", **flags)
    assert "pooling_mode_cls_token" in caplog.text


def test_a_left_to_right_network_is_computed_as_one(flags, tmp_path):
    path = flags["init_checkpoint"] / "model.json"
    description = read_json(path)
    description["origin"]["settings"]["left_to_right"] = True
    path.write_text(json.dumps(description))
    first = [
        line["features"][0]
        for line in extract_vectors(tmp_path / "found.jsonl", **flags)
    ]
    # [CLS] sees nothing of the texts.
    assert first[0] == first[1] == first[2]


TEXT_PAIR = "Who sang in Ostrel? ||| On Thursday the singers sang for hours.\n"


@pytest.fixture(scope="module")
def extracted(model_flags, tmp_path_factory):
    """A folder, and the tokens of a text pair with their vectors in it."""
    folder = tmp_path_factory.mktemp("extracted")
    (folder / "lines.txt").write_text(TEXT_PAIR)
    flags = split_flags("""
        --input_file=lines.txt --output_file=features.jsonl --layers=-1
        --max_seq_length=40
    """)
    flags |= model_flags
    script_runner.run("extract_features.py", folder, **flags).check()
    (line,) = read_json_lines(folder / "features.jsonl")
    return folder, line["features"]


@pytest.fixture(scope="module")
def batch(extracted):
    """The text pair as the inputs of an export."""
    tokens = [token["token"] for token in extracted[1]]
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    ids = tokenizer.convert_tokens_to_ids(tokens)
    pair = engines.NetworkInput(ids, tokens.index("[SEP]") + 1)
    return engines.pad_batch([pair], len(ids))


@pytest.mark.slow
def test_an_exported_encoder_computes_the_extracted_vectors(
    extracted, batch, model_flags
):
    folder, features = extracted
    shutil.copytree(model_flags["init_checkpoint"].parent, folder / "model")
    shutil.copy(model_flags["vocab_file"], folder / "model")
    export = split_flags("--model=model --task=embed --export_dir=encoder/12")
    script_runner.run("tools.export", folder, **export).check()
    # Versions are numbered folders and nothing else.
    assert os.listdir(folder / "encoder") == ["12"]
    outputs = call_signature(folder / "encoder/12", batch)
    vectors = [token["layers"][0]["values"] for token in features]
    np.testing.assert_allclose(outputs["sequence_output"], [vectors], atol=1e-5)
    assert outputs["pooled_output"].shape == (1, 32)


@pytest.mark.slow
def test_a_pretrained_model_is_exported_without_a_training(
    batch, sample_records, model_flags, tmp_path
):
    flags = split_flags(f"""
        --input_file={sample_records} --output_dir=pretraining
        --max_seq_length=32 --max_predictions_per_seq=5
        --export_dir=pretrainer/1
    """)
    flags |= model_flags | {"vocab_file": None}
    script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert os.listdir(tmp_path / "pretrainer") == ["1"]
    outputs = call_signature(tmp_path / "pretrainer/1", batch)
    length = batch["input_ids"].shape[1]
    assert outputs["masked_lm_probabilities"].shape == (1, length, 1600)
    assert outputs["next_sentence_probabilities"].shape == (1, 2)
