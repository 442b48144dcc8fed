"""Runs in folders whose names TensorFlow takes for patterns."""

import json

from tests import script_runner
from tests.scripts.test_run_ner import write_set

# Shells and TensorFlow take these for patterns.
NAME = "50% [new] *run?* \\{b}"


def test_training_resumes_exports_and_predicts(
    tmp_path, tiny, pretraining_flags
):
    folder = tmp_path / NAME
    folder.mkdir()
    write_set(folder / "train.txt", 12)
    write_set(folder / "test.txt", 2)
    script_runner.create_records(folder, folder / "records")
    flags = pretraining_flags | {
        "input_file": folder / "rec*",
        "output_dir": folder / "pretraining",
        "do_train": True,
        "save_checkpoints_steps": 2,
    }
    for steps in (2, 4):
        done = script_runner.run(
            "run_pretraining.py", folder, **flags, num_train_steps=steps
        ).check()
    assert f"Restored the checkpoint {folder}/pretraining/model.ckpt-2" in (
        done.stderr
    )
    script_runner.run(
        "run_ner.py",
        folder,
        **script_runner.fine_tuning_flags(
            folder,
            tiny,
            do_eval=None,
            # The newest checkpoint of a folder.
            init_checkpoint=folder / "pretraining",
            num_train_epochs=1,
            export_dir=folder / "served",
            export_weights=folder / "given [1].ckpt",
        ),
    ).check()
    # One checkpoint, whose own name is odd.
    script_runner.run(
        "tools.convert_checkpoint",
        folder,
        init_checkpoint=folder / "given [1].ckpt",
        bert_config_file=tiny / "bert_config.json",
        vocab_file=script_runner.SAMPLES / "vocab.txt",
        model="token_classifier",
        output_format="huggingface",
        output_dir=folder / "converted",
    ).check()
    (folder / "texts.jsonl").write_text('{"text": "The boat"}\n')
    done = script_runner.run(
        "predict.py",
        folder,
        model=folder / "served",
        input_file=folder / "texts.jsonl",
    ).check()
    assert json.loads(done.stdout)["words"] == ["The", "boat"]
