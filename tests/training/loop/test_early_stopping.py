"""Early stopping, on real runs of run_classifier.py."""

import concurrent.futures
import contextlib
import random
import signal

import pytest

from files.json_files import read_json
from model_folders.checkpoint_folders import checkpoint_steps
from tests.support import script_runner
from tests.support.checkpoints import assert_same_bits, values


@pytest.fixture(scope="module")
def flags(tiny, tmp_path_factory):
    """Flags of a task of 8 steps an epoch, which is learned in a few."""
    data_dir = tmp_path_factory.mktemp("boats")
    rng = random.Random(1)
    for name, count in (("train", 64), ("dev", 24)):
        lines = ["text\tlabel"]
        for _ in range(count):
            label = rng.choice(("red", "blue"))
            place = rng.choice(("river", "water", "boat", "island"))
            # Nobody can know every label.
            seen = label if rng.random() < 0.9 else "green"
            lines.append(f"the {seen} one is near the {place}\t{label}")
        (data_dir / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return script_runner.fine_tuning_flags(
        data_dir,
        tiny / "one_block",
        task_name="csv",
        max_seq_length=16,
        train_batch_size=8,
        learning_rate=1e-3,
        num_train_epochs=20,
        do_predict=False,
    )


def best_of(folder):
    """Returns the best step of a run, None if it has none so far."""
    # It is written while it is read.
    with contextlib.suppress(OSError, ValueError):
        return read_json(folder / "model.json").get("best_step")


@pytest.mark.slow
def test_early_stopping_survives_kills(flags, tmp_path):
    more = flags | {
        "early_stopping_patience": 3,
        # No multiple of it is the end of the first epochs.
        "save_checkpoints_steps": 3,
    }

    def run(output_dir, kill_when=lambda: False):
        return script_runner.run(
            "run_classifier.py",
            tmp_path,
            kill_when=kill_when,
            **more | {"output_dir": output_dir},
        )

    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"

    def steps():
        return checkpoint_steps(killed) or [0]

    def kill(kill_when):
        assert run("killed", kill_when=kill_when).status == -signal.SIGKILL

    with concurrent.futures.ThreadPoolExecutor() as pool:
        undisturbed_run = pool.submit(run, "undisturbed")
        # In the first epochs the best is found again and again.
        kill(lambda: best_of(killed))
        undisturbed_run.result().check()
    assert "Run its command again" in (killed / "README.md").read_text()
    best_step = best_of(undisturbed)
    last_step = checkpoint_steps(undisturbed)[-1]
    assert best_step > 8
    assert last_step == best_step + 3 * 8

    # Later a better one is waited for in vain.
    kill(lambda: steps()[-1] > best_step + 3)
    assert best_step < steps()[-1] < last_step
    done = run("killed").check()
    assert "Restored the checkpoint" in done.stderr
    assert "Stopping early" in done.stderr

    assert_same_bits(values(killed), values(undisturbed))
    assert_same_bits(values(killed / "best"), values(undisturbed / "best"))
    assert best_of(killed) == best_of(undisturbed)
    for name in ("eval_results.txt", "best/labels.txt"):
        assert (killed / name).read_text() == (undisturbed / name).read_text()
