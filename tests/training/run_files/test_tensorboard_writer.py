"""What TensorBoard shows of the metrics of a run."""

from tests.support import tensorboard_events
from training.run_files.tensorboard_writer import TensorboardWriter


def test_metrics_are_written_with_a_prefix(tmp_path):
    writer = TensorboardWriter(tmp_path / "state")
    writer.write("eval/", 3, {"loss": 0.5, "f1": None})
    writer.write("eval/", 6, {"loss": 0.25, "f1": 0.75})
    assert tensorboard_events.read_scalars(tmp_path) == {
        "eval/loss": {3: 0.5, 6: 0.25},
        "eval/f1": {6: 0.75},
    }
