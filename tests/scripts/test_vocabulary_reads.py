"""A run opens --vocab_file once, whatever needs the vocabulary."""

import pytest

from tests import script_runner
from tests.script_runner import parse_flags

# Runs the script that its first argument names.
COUNTING = """
import os, runpy, sys

def count(event, arguments):
    if event == "open" and str(arguments[0]).endswith("words.txt"):
        os.write(1, b"opened words.txt\\n")

sys.addaudithook(count)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
SAMPLES = script_runner.SAMPLES
FLAGS = {
    "run_classifier.py": f"""
        --task_name=MRPC --data_dir={SAMPLES}/glue --do_eval --do_predict
        --num_train_epochs=0.1
    """,
    "run_pretraining.py": """
        --input_file=made-* --max_predictions_per_seq=5 --do_eval
        --max_eval_steps=2 --num_train_steps=2 --summary_steps=1
        --do_whole_word_mask
    """,
}


@pytest.mark.parametrize(
    "script",
    [
        "run_classifier.py",
        pytest.param("run_pretraining.py", marks=pytest.mark.slow),
    ],
)
def test_the_vocabulary_is_opened_once(tmp_path, tiny, script):
    contents = (SAMPLES / "vocab.txt").read_bytes().rstrip()
    (tmp_path / "words.txt").write_bytes(contents)
    (tmp_path / "counting.py").write_text(COUNTING)
    if script == "run_pretraining.py":
        script_runner.create_records(
            tmp_path, "made", num_shards=1, dynamic_masking=True
        )
    flags = parse_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file=words.txt
        --output_dir=run --export_dir=export --export_weights=weights
        --max_seq_length=32 --train_batch_size=4 --do_train {FLAGS[script]}
    """)
    script = str(script_runner.ROOT / script)
    done = script_runner.run(
        tmp_path / "counting.py", tmp_path, script, **flags
    )
    assert done.check().stdout.count("opened words.txt") == 1
    if script.endswith("run_pretraining.py"):
        # Of records that were masked as they were read, by these words.
        results = script_runner.read_results(tmp_path / "run")
        assert 0 < results["masked_lm_loss"] < 20
        del flags["vocab_file"], flags["export_dir"], flags["export_weights"]
        flags["output_dir"] = "new"
        error = script_runner.run(script, tmp_path, **flags).error
        assert "not masked yet" in error
    for copy in ("export/assets.extra/vocab.txt", "weights/vocab.txt"):
        assert (tmp_path / copy).read_bytes() == contents
