"""A run opens --vocab_file once, whatever needs the vocabulary."""

import pytest

from tests import script_runner
from tests.conftest import COUNTING
from tests.script_runner import parse_flags


def check(folder, done):
    assert done.check().stdout.count("opened words.txt") == 1
    for copy in ("export/assets.extra/vocab.txt", "weights/vocab.txt"):
        words = (folder / "words.txt").read_bytes()
        assert (folder / copy).read_bytes() == words


def test_fine_tuning_opens_the_vocabulary_once(classified):
    check(*classified)


@pytest.mark.slow
def test_pretraining_opens_the_vocabulary_once(tmp_path, tiny):
    vocab = (script_runner.SAMPLES / "vocab.txt").read_bytes()
    (tmp_path / "words.txt").write_bytes(vocab.rstrip())
    (tmp_path / "counting.py").write_text(COUNTING)
    script_runner.create_records(
        tmp_path, "made", num_shards=1, dynamic_masking=True
    )
    flags = parse_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file=words.txt
        --output_dir=run --export_dir=export --export_weights=weights
        --max_seq_length=32 --train_batch_size=4 --do_train
        --input_file=made-* --max_predictions_per_seq=5 --do_eval
        --max_eval_steps=2 --num_train_steps=2 --summary_steps=1
        --do_whole_word_mask
    """)
    script = str(script_runner.ROOT / "run_pretraining.py")
    check(
        tmp_path,
        script_runner.run(tmp_path / "counting.py", tmp_path, script, **flags),
    )
    # Of records that were masked as they were read, by these words.
    results = script_runner.read_results(tmp_path / "run")
    assert 0 < results["masked_lm_loss"] < 20
    del flags["vocab_file"], flags["export_dir"], flags["export_weights"]
    flags["output_dir"] = "new"
    error = script_runner.run(script, tmp_path, **flags).error
    assert "not masked yet" in error
