"""200 steps of pretraining in bfloat16 follow those in float32."""

import numpy as np
import pytest

from tests import script_runner
from training.callbacks import history

NUM_STEPS = 200
LOSSES = ("masked_lm_loss", "next_sentence_loss")


@pytest.mark.slow
def test_losses_stay_close(tmp_path):
    script_runner.create_records(tmp_path, "train.tfrecord", dupe_factor=5)
    flags = {
        "input_file": "train.tfrecord",
        # As wide as the forms for real sizes begin.
        "bert_config_file": script_runner.SAMPLES / "bert_config.json",
        "do_train": True,
        "do_eval": True,
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        "train_batch_size": 16,
        "num_train_steps": NUM_STEPS,
        "num_warmup_steps": 20,
        # At 1e-3 single steps spike, and rounding decides how far.
        "learning_rate": 3e-4,
        "summary_steps": 1,
    }
    precisions = ("float32", "bfloat16")
    for done in script_runner.run_all(
        [
            (
                "run_pretraining.py",
                tmp_path,
                flags | {"output_dir": name, "mixed_precision": name},
            )
            for name in precisions
        ]
    ):
        done.check()
    lines = [
        history.read(tmp_path / name / history.FILE) for name in precisions
    ]
    for name in LOSSES:
        exact, rounded = (
            np.array(
                [
                    line["metrics"][name]
                    for line in found
                    if line["kind"] == "train"
                ]
            ).reshape(10, -1)
            for found in lines
        )
        assert exact.size == NUM_STEPS
        # Of 20 steps each. No rounding in a step may add up.
        np.testing.assert_allclose(
            rounded.mean(-1), exact.mean(-1), rtol=0.005, err_msg=name
        )
        assert not np.array_equal(rounded, exact)
        assert exact[-1].mean() < exact[0].mean()
