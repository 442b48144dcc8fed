"""run_pretraining.py on records that were made with --dynamic_masking."""

import json

import pytest

from tests import golden, script_runner

SAMPLES = golden.ROOT / "tests/testdata/golden"


@pytest.fixture
def flags(tmp_path):
    vocab_file = SAMPLES / "vocab/uncased.txt"
    script_runner.run(
        "create_pretraining_data.py",
        tmp_path,
        input_file=SAMPLES / "pretraining_data/corpus/harbor.txt",
        vocab_file=vocab_file,
        output_file="made",
        max_seq_length=32,
        num_shards=1,
        dynamic_masking=True,
    ).check()
    config = {
        "vocab_size": len(vocab_file.read_text().splitlines()),
        "hidden_size": 8,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "intermediate_size": 16,
        "max_position_embeddings": 32,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    return {
        "bert_config_file": "config.json",
        "input_file": "made-*",
        "output_dir": "out",
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        "do_train": True,
        "do_eval": True,
        "num_train_steps": 2,
        "max_eval_steps": 2,
        "train_batch_size": 4,
    }


def test_training_masks_what_it_reads(tmp_path, flags):
    vocab_file = SAMPLES / "vocab/uncased.txt"
    script_runner.run(
        "run_pretraining.py",
        tmp_path,
        **flags,
        vocab_file=vocab_file,
        do_whole_word_mask=True,
    ).check()
    results = (tmp_path / "out" / "eval_results.txt").read_text()
    assert "masked_lm_loss = " in results


def test_the_vocabulary_is_asked_for(tmp_path, flags):
    error = script_runner.run("run_pretraining.py", tmp_path, **flags).error
    assert "without masks; give --vocab_file" in error
