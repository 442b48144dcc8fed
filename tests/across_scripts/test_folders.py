"""Output folders that are in use, or whose names are odd."""

import json

import pytest

from tests.support import pretraining_records, script_runner
from tests.support.tasks.task_files import write_entities
from tests.support.tasks.task_runs import fine_tuning_flags


@pytest.mark.slow
def test_a_second_run_in_the_same_folder_is_refused(
    tmp_path, pretraining_flags
):
    flags = pretraining_flags | script_runner.split_flags("""
        --output_dir=run --do_train --num_train_steps=100000
        --save_checkpoints_steps=1
    """)
    folder = tmp_path / "run"

    def run(**more):
        return script_runner.run("run_pretraining.py", tmp_path, **flags | more)

    with script_runner.start("run_pretraining.py", tmp_path, **flags) as first:
        first.wait_for_files(folder, "*.index")
        # Whatever the second one asks for, it would write there.
        for more in ({}, {"do_train": False, "export_dir": "export"}):
            error = run(**more).error
            assert "--output_dir=run is in use by another process" in error
    assert not (tmp_path / "export").exists()
    assert (folder / "state/.lock").exists()

    # The folder is free again when the run ends.
    run(max_hours=1e-9).check()
    assert not (folder / "state/.lock").exists()


# Shells and TensorFlow take these for patterns.
NAME = "50% [new] *run?* \\{b}"


@pytest.fixture(scope="module")
def odd_folder(tmp_path_factory, pretraining_flags):
    """A folder with an odd name, and the result of a resumed pretraining."""
    folder = tmp_path_factory.mktemp("odd") / NAME
    folder.mkdir()
    pretraining_records.create_records(folder, folder / "records")
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
    return folder, done


@pytest.mark.slow
def test_pretraining_resumes_in_a_folder_with_an_odd_name(odd_folder):
    folder, done = odd_folder
    restored = f"Restored the checkpoint {folder}/pretraining/model.ckpt-2"
    assert restored in done.stderr


@pytest.fixture(scope="module")
def fine_tuned(odd_folder, tiny):
    """The folder, with what a fine-tuning made of the pretraining."""
    folder, _ = odd_folder
    write_entities(folder / "train.txt", 12)
    write_entities(folder / "test.txt", 2)
    flags = fine_tuning_flags(
        folder,
        tiny / "one_block",
        do_eval=None,
        # The newest checkpoint of a folder.
        init_checkpoint=folder / "pretraining",
        num_train_epochs=1,
        export_dir=folder / "served",
        export_weights=folder / "given [1]",
    )
    script_runner.run("run_ner.py", folder, **flags).check()
    return folder


@pytest.mark.slow
def test_weights_in_a_folder_with_an_odd_name_are_converted(fine_tuned):
    # A checkpoint whose path is odd; its folder says the rest.
    script_runner.run(
        "tools.convert_checkpoint",
        fine_tuned,
        init_checkpoint=fine_tuned / "given [1]/bert_model.ckpt",
        output_format="huggingface",
        output_dir=fine_tuned / "converted",
    ).check()
    assert (fine_tuned / "converted/config.json").is_file()


@pytest.mark.slow
def test_an_export_in_a_folder_with_an_odd_name_answers(fine_tuned):
    (fine_tuned / "texts.jsonl").write_text('{"text": "The boat"}\n')
    done = script_runner.run(
        "predict.py",
        fine_tuned,
        model=fine_tuned / "served",
        input_file=fine_tuned / "texts.jsonl",
    ).check()
    assert json.loads(done.stdout)["words"] == ["The", "boat"]
