"""Scripts killed at random moments end with the same bits.

BERT_CAMPAIGN_KILLS is the number of kills of each script, BERT_CAMPAIGN_SEED
draws the moments. Each test prints a line of its figures.
"""

import contextlib
import fcntl
import math
import os
import random
import shutil
import time

import pytest

from tests import script_runner
from tests.checkpoints import values
from tests.script_runner import parse_flags
from tests.scripts import test_run_ner, test_run_swag
from training import checkpointing
from training.callbacks import history

pytestmark = pytest.mark.soak

NUM_KILLS = int(os.environ.get("BERT_CAMPAIGN_KILLS", "10"))
SEED = int(os.environ.get("BERT_CAMPAIGN_SEED", "0"))
SAVE_STEPS = 2
SAMPLES = script_runner.SAMPLES
PREDICTING = """
    --do_train --do_predict --max_seq_length=32 --train_batch_size=4
    --learning_rate=1e-3
"""
# The flags of each script that writes the folder `out`, and saves often.
COMMANDS = {
    "create_pretraining_data.py": f"""
        --input_file=../corpus.txt --vocab_file={SAMPLES}/vocab.txt
        --output_file=out/shard --max_seq_length=32
        --max_predictions_per_seq=5 --dupe_factor=40 --num_shards=12
        --num_processes=2
    """,
    "run_pretraining.py": "--do_train --do_eval --num_train_steps=60",
    "run_classifier.py": f"""
        {PREDICTING} --do_eval --task_name=mrpc --data_dir={SAMPLES}/glue
        --evaluate_each_epoch --num_train_epochs=0.3
    """,
    "run_squad.py": f"""
        {PREDICTING} --train_file={SAMPLES}/squad/train.json
        --predict_file={SAMPLES}/squad/dev.json --max_seq_length=64
        --max_query_length=24 --num_train_epochs=0.3
    """,
    "run_ner.py": f"{PREDICTING} --do_eval --data_dir=.. --num_train_epochs=4",
    "run_swag.py": f"{PREDICTING} --do_eval --data_dir=.. --num_train_epochs=4",
}
# Times, and what TensorBoard reads, differ from run to run.
DIFFERS = ("events.out.", "checkpoint", "model.ckpt-", ".lock")


def write_data(folder):
    """Writes a data set for each task, and a larger corpus."""
    for name, count in (("train", 48), ("valid", 9), ("test", 5)):
        test_run_ner.write_set(folder / f"{name}.txt", count)
    for name, count in (("train", 48), ("val", 10), ("test", 5)):
        test_run_swag.write_set(folder / f"{name}.csv", count)
    corpus = (SAMPLES / "corpus.txt").read_text(encoding="utf-8")
    (folder / "corpus.txt").write_text("\n\n".join([corpus] * 20))


def read_outputs(folder):
    """Returns all that must not differ: values of variables, bytes of files."""
    found = {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(DIFFERS)
    }
    for path in folder.rglob(history.FILE):
        # All of it but the time spent, and the save of a run that ends because
        # its parent was killed, which an undisturbed one does not make.
        found[path] = [
            line | {"hours": None}
            for line in history.read(path)
            if line["kind"] != "checkpoint" or line["step"] % SAVE_STEPS == 0
        ]
    for parent in {path.parent for path in folder.rglob("model.ckpt-*.index")}:
        step = checkpointing.checkpoint_steps(parent)[-1]
        for name, value in values(parent, step).items():
            found[parent / f"{step}:{name}"] = value.tobytes(), value.shape
    return {str(path.relative_to(folder)): x for path, x in found.items()}


def wait_until_free(folder):
    """Waits until the processes end that a killed one had started."""
    for path in folder.rglob(".lock"):
        # It goes with its process.
        with contextlib.suppress(FileNotFoundError), path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)


def kill_after(seconds):
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


@pytest.mark.parametrize("script", COMMANDS)
def test_killed_runs_end_with_the_same_bits(
    tmp_path, pretraining_flags, model_flags, script, capsys
):
    write_data(tmp_path)
    flags = parse_flags(COMMANDS[script])
    if script.startswith("run_"):
        saving = {"output_dir": "out", "save_checkpoints_steps": SAVE_STEPS}
        is_pretraining = script == "run_pretraining.py"
        start = pretraining_flags if is_pretraining else model_flags
        flags = start | saving | flags
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    started = time.monotonic()
    script_runner.run(script, whole, **flags).check()
    length = time.monotonic() - started
    expected = read_outputs(whole / "out")
    rng = random.Random(f"{SEED}/{script}")
    num_kills = num_ends = 0
    wrong = []
    while num_kills < NUM_KILLS or killed.exists():
        killed.mkdir(exist_ok=True)
        # The first tenth goes to the start.
        delay = rng.uniform(0.1 * length, length)
        kill_when = kill_after(delay if num_kills < NUM_KILLS else math.inf)
        done = script_runner.run(script, killed, kill_when=kill_when, **flags)
        if done.status < 0:
            num_kills += 1
            wait_until_free(killed)
            continue
        # It came to its end first; the next kills are of a new run.
        assert done.status == 0, f"after {num_kills} kills: {done.stderr}"
        num_ends += 1
        found = read_outputs(killed / "out")
        names = {*found, *expected}
        wrong += [x for x in names if found.get(x) != expected.get(x)]
        shutil.rmtree(killed)
    with capsys.disabled():
        print(
            f"\n{script}: {num_kills} kills survived in {num_ends} runs, "
            f"{len(expected)} outputs compared in each, {len(wrong)} "
            "differences"
        )
    assert not wrong
