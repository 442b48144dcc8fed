"""What TensorBoard shows of a run."""

from tests.support import tensorboard_events
from training.run_files.tensorboard_writer import TensorboardWriter


def test_metrics_without_a_value_are_left_out(tmp_path):
    writer = TensorboardWriter(tmp_path / "state")
    writer.write("eval/", 3, {"loss": 0.5, "f1": None})
    writer.write("", 4, {"loss": 0.25})
    assert tensorboard_events.read_scalars(tmp_path) == {
        "eval/loss": {3: 0.5},
        "loss": {4: 0.25},
    }
