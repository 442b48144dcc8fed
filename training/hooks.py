"""What is done every so many steps of training besides the steps."""

import json
import time
from pathlib import Path

import tensorflow as tf
from absl import logging

from training import checkpointing, report


class Summaries:
    """Writes scalars for TensorBoard into the run's folder.

    Args:
        output_dir: folder of the run.
        every: steps between two entries.
        examples: examples in a step.
        tokens: WordPieces in a step, padding included; None = it varies.
        flops: floating point operations of a step's matrix products; None
            as `tokens`.
        precision: that of the products, for the share of the peak rate.
        num_replicas: devices that share a step.
    """

    def __init__(
        self,
        output_dir,
        every,
        examples,
        tokens,
        flops,
        precision,
        num_replicas,
    ):
        self.every = every
        self._per_step = {"examples": examples}
        self._flops = flops
        if tokens is not None:
            self._per_step["tokens"] = tokens
            self._peak = report.matmul_rate(precision) * num_replicas
        self._writer = tf.summary.create_file_writer(str(output_dir))
        self._last = None

    def __call__(self, step, logs):
        """Writes the entries of a step, when its turn has come."""
        first, now = self._last is None, time.monotonic()
        if first:
            # Its time holds the start-up, so its rate is left out.
            self._last = (step, now)
        if step % self.every:
            return
        values = dict(logs)
        if not first:
            steps, seconds = step - self._last[0], now - self._last[1]
            rate = steps / seconds if seconds else 0.0
            for name, count in self._per_step.items():
                values[f"{name}_per_second"] = rate * count
            if self._flops is not None:
                values["mfu"] = rate * self._flops / self._peak
            self._last = (step, now)
        values["peak_memory_gib"] = report.peak_memory() / 2**30
        with self._writer.as_default():
            for name, value in values.items():
                tf.summary.scalar(name, value, step=step)
        self._writer.flush()
        logging.info(
            "Step %d: %s",
            step,
            ", ".join(f"{name} {value:.4g}" for name, value in values.items()),
        )


class Evaluation:
    """Evaluates while training, keeps the best checkpoint, stops early.

    The best checkpoint stands in the folder `best` of the run, with its
    figures. A run that goes on finds them there.

    Args:
        evaluate: () -> {name: figure}.
        every: steps between two evaluations.
        metric: the figure that decides.
        checkpointer: writes into the `best` folder.
        patience: evaluations without a better one that end the training; 0
            for never.
        higher_is_better: whether the best figure is the highest.
    """

    def __init__(
        self,
        evaluate,
        every,
        metric,
        checkpointer,
        patience=0,
        higher_is_better=True,
    ):
        self._evaluate = evaluate
        self.every = every
        self._metric = metric
        self._checkpointer = checkpointer
        self._patience = patience
        self._sign = 1 if higher_is_better else -1
        self._path = Path(checkpointer.output_dir) / "eval_results.json"
        # Figures of the best checkpoint so far. Kept here, so that workers
        # agree whatever the file shows them at what time.
        self._best = None
        if self._path.is_file():
            self._best = json.loads(self._path.read_text(encoding="utf-8"))

    def __call__(self, step, logs):
        """Evaluates when it is time; returns whether to stop training."""
        del logs
        if step % self.every:
            return False
        # Over the evaluation's own, which is that of the start of training.
        results = self._evaluate() | {"global_step": step}
        logging.info("Evaluation after step %d: %s", step, results)
        if self._best is None or self._is_better(results, self._best):
            self._best = results
            if self._checkpointer.is_chief:
                self._checkpointer.save(step)
                checkpointing.write_text(
                    self._path, json.dumps(results, indent=2) + "\n"
                )
            return False
        return self.has_ended(step)

    def has_ended(self, step):
        """Returns whether a run that stands at `step` was to stop early."""
        best = self._best
        if not self._patience or best is None:
            return False
        waited = (step - best["global_step"]) // self.every
        if waited < self._patience:
            return False
        logging.info(
            "Stopping early: %s has not got better than %s, of step %d, in %d "
            "evaluations.",
            self._metric,
            best[self._metric],
            best["global_step"],
            waited,
        )
        return True

    def _is_better(self, results, best):
        return self._sign * (results[self._metric] - best[self._metric]) > 0
