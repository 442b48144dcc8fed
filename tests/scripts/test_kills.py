"""Fine-tunings that are killed and run again end with the same bits.

tests/training/test_fine_tuning.py kills run_classifier.py, and test_resume.py
there kills run_pretraining.py.
"""

import signal

import pytest

from tests import script_runner
from tests.checkpoints import assert_same_bits, values
from tests.script_runner import SAMPLES, parse_flags
from tests.scripts import test_run_ner, test_run_swag
from training import checkpointing

FLAGS = {
    "run_squad.py": f"""
        --train_file={SAMPLES}/squad/train.json --max_query_length=24
        --predict_file={SAMPLES}/squad/dev.json --max_seq_length=64
        --num_train_epochs=0.1
    """,
    "run_ner.py": "--do_eval --data_dir=.. --max_seq_length=32",
    "run_swag.py": "--do_eval --data_dir=.. --max_seq_length=32",
}
# Their contents differ from run to run, such as times.
DIFFERS = ("events.out.", "checkpoint", "model.ckpt-")
DIFFERS += (".lock", "history.jsonl")


def read_outputs(folder):
    """Returns the bytes of the files that must not differ."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(DIFFERS)
    }


@pytest.mark.slow
@pytest.mark.parametrize("script", FLAGS)
def test_a_killed_run_ends_with_the_same_bits(tmp_path, model_flags, script):
    for name, count in (("train", 48), ("valid", 9), ("test", 5)):
        test_run_ner.write_set(tmp_path / f"{name}.txt", count)
    for name, count in (("train", 48), ("val", 10), ("test", 5)):
        test_run_swag.write_set(tmp_path / f"{name}.csv", count)
    flags = model_flags | parse_flags(f"""
        --do_train --do_predict --train_batch_size=4 --learning_rate=1e-3
        --save_checkpoints_steps=2 --output_dir=run {FLAGS[script]}
    """)

    undisturbed, killed = tmp_path / "undisturbed/run", tmp_path / "killed/run"

    def run(folder, **kwargs):
        folder.parent.mkdir(exist_ok=True)
        return script_runner.run(script, folder.parent, **kwargs, **flags)

    run(undisturbed).check()
    done = run(killed, kill_when=(killed / "model.ckpt-4.index").exists)
    assert done.status == -signal.SIGKILL
    assert "Restored the checkpoint" in run(killed).check().stderr
    last_step = checkpointing.checkpoint_steps(undisturbed)[-1]
    assert_same_bits(values(killed, last_step), values(undisturbed, last_step))
    assert read_outputs(killed) == read_outputs(undisturbed)
