"""A run opens --vocab_file once, whatever needs the vocabulary."""

import pytest

from tests import script_runner

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
FLAGS = {
    "run_classifier.py": {
        "task_name": "MRPC",
        "data_dir": script_runner.SAMPLES / "glue",
        "do_predict": True,
        "num_train_epochs": 0.1,
    },
    "run_squad.py": {
        "train_file": script_runner.SAMPLES / "squad/train.json",
        "predict_file": script_runner.SAMPLES / "squad/dev.json",
        "do_eval": None,
        "do_predict": True,
        "max_query_length": 8,
        "doc_stride": 8,
        "num_train_epochs": 0.1,
    },
    "run_pretraining.py": {
        "input_file": "made-*",
        "max_predictions_per_seq": 5,
        "max_eval_steps": 2,
        "num_train_steps": 2,
        "summary_steps": 1,
    },
}


@pytest.mark.parametrize("script", FLAGS)
def test_the_vocabulary_is_opened_once(tmp_path, tiny, script):
    contents = (script_runner.SAMPLES / "vocab.txt").read_bytes().rstrip()
    (tmp_path / "words.txt").write_bytes(contents)
    (tmp_path / "counting.py").write_text(COUNTING)
    if script == "run_pretraining.py":
        script_runner.create_records(
            tmp_path, "made", num_shards=1, dynamic_masking=True
        )
    flags = {
        "bert_config_file": tiny / "bert_config.json",
        "vocab_file": "words.txt",
        "output_dir": "run",
        "export_dir": "export",
        "export_weights": "weights",
        "max_seq_length": 32,
        "train_batch_size": 4,
        "do_train": True,
        "do_eval": True,
    }
    done = script_runner.run(
        tmp_path / "counting.py",
        tmp_path,
        str(script_runner.ROOT / script),
        **flags | FLAGS[script],
    ).check()
    assert done.stdout.count("opened words.txt") == 1
    for copy in ("export/assets.extra/vocab.txt", "weights/vocab.txt"):
        assert (tmp_path / copy).read_bytes() == contents
