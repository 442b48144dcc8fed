"""Reads the files that a run wrote for TensorBoard.

For example:

    losses = read_scalars(run)["loss"]  # {step: value}
"""

from pathlib import Path

import pytest
import tensorflow as tf

from tests.support.output_files import read_results
from training.run_files import history


def read_evaluations(run: Path) -> list[history.HistoryLine]:
    """Returns the lines of the evaluations in a run's history."""
    lines = history.read_history(run / history.HISTORY_FILE)
    return [line for line in lines if line["kind"] == "eval"]


def check_evaluations(run: Path) -> dict[int, dict[str, float | None]]:
    """Checks that a run's history, TensorBoard and results agree.

    Returns:
        {step: metrics} of the run's evaluations.
    """
    evaluated = {
        line["step"]: line["metrics"] for line in read_evaluations(run)
    }
    events = read_scalars(run)
    for step, metrics in evaluated.items():
        in_events = {name: events[f"eval/{name}"][step] for name in metrics}
        assert in_events == pytest.approx(metrics)
    results = read_results(run)
    # The results are from the best step.
    metrics = evaluated[int(results.get("global_step", max(evaluated)))]
    for name, value in metrics.items():
        assert results.get(name, results.get(f"eval_{name}")) == value, name
    return evaluated


def read_scalars(folder: Path) -> dict[str, dict[int, float]]:
    """Returns {tag: {step: value}} of the scalars in TensorBoard."""
    values: dict[str, dict[int, float]] = {}
    for path in folder.glob("state/events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "scalars":
                    number = float(tf.make_ndarray(value.tensor))
                    values.setdefault(value.tag, {})[event.step] = number
    return values
