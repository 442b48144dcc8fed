"""Reads the files that a run wrote for TensorBoard."""

import pytest
import tensorflow as tf

from tests.support.script_runner import read_results
from training.run import history


def evaluations(run):
    """Returns the lines of the evaluations in a run's history."""
    lines = history.read(run / history.FILE)
    return [line for line in lines if line["kind"] == "eval"]


def check_evaluations(run):
    """Checks that a run's history, TensorBoard and results agree.

    Returns:
        {step: metrics} of the run's evaluations.
    """
    found = {line["step"]: line["metrics"] for line in evaluations(run)}
    shown = scalars(run)
    for step, metrics in found.items():
        here = {name: shown[f"eval/{name}"][step] for name in metrics}
        assert here == pytest.approx(metrics)
    results = read_results(run)
    # The results are from the best step.
    metrics = found[results.get("global_step", max(found))]
    for name, value in metrics.items():
        assert results.get(name, results.get(f"eval_{name}")) == value, name
    return found


def scalars(folder):
    """Returns {tag: {step: value}} of the scalars in TensorBoard."""
    found = {}
    for path in folder.glob("state/events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "scalars":
                    number = float(tf.make_ndarray(value.tensor))
                    found.setdefault(value.tag, {})[event.step] = number
    return found
