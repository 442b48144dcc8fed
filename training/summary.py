"""summary.json: settings, results and times of a run."""

import hashlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from files import atomic
from training import costs
from training.config import TrainingConfig

# Settings that pretraining may begin without, and add later.
_MAY_COME_LATE = {"eval_input_file", "tokenizer"}


class Summary:
    """Collects summary.json: all that is needed to repeat a run.

    Attributes:
        settings: settings at the start: configuration, data, batch size.
        fingerprint: {"run", "dev_set" or "test_set": its checksum}, see
            `fingerprint_of`. Figures of equal ones may be compared.
        results: {name of a file of results: the results}.
        seconds: {name of a part of the run: its duration}.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.settings: Mapping[str, Any] = {}
        self.fingerprint: Mapping[str, str] = {}
        self.results: dict[str, Mapping[str, Any]] = {}
        self.seconds: dict[str, float] = {}
        self._started = time.monotonic()

    def write(self, global_step: int) -> None:
        """Writes `summary.json` into the run's folder."""
        total = time.monotonic() - self._started
        summary = {
            "command": [os.path.basename(sys.argv[0]), *sys.argv[1:]],
            "flags": dict(self.config.given_flags),
            "all_flags": dict(self.config.all_flags),
            "settings": self.settings,
            "fingerprint": self.fingerprint,
            "versions": {
                "python": platform.python_version(),
                "tensorflow": tf.__version__,
                "keras": keras.__version__,
                "numpy": np.__version__,
            },
            "global_step": global_step,
            "results": {
                name: finite(figures) for name, figures in self.results.items()
            },
            "seconds": {**self.seconds, "total_seconds": total},
            "peak_memory_bytes": costs.peak_memory(),
        }
        atomic.write_text(
            Path(self.config.output_dir) / "summary.json",
            json.dumps(summary, indent=2, default=str) + "\n",
        )


def fingerprint_of(
    settings: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, str]:
    """Returns what ties figures to a run and its data, {part: checksum}.

    Args:
        settings: settings that must not change in a resume (run_settings.py).
        data: {"dev_set" or "test_set": JSON-serializable description}.
    """
    run = {name: settings[name] for name in settings.keys() - _MAY_COME_LATE}
    return {
        part: hashlib.sha256(
            json.dumps(value, sort_keys=True).encode()
        ).hexdigest()[:16]
        for part, value in {"run": run, **data}.items()
    }


def finite(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Replaces figures that are not finite by None, for JSON."""
    return {
        name: None
        if isinstance(value, float) and not math.isfinite(value)
        else value
        for name, value in figures.items()
    }
