"""Writes summary.json: settings, results and times of a run."""

import contextlib
import hashlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from files import atomic, json_files
from training import costs, fingerprints, run_folder
from training.config import TrainingConfig

_FILE = "summary.json"


class Summary:
    """Collects the contents of summary.json, which suffice to repeat a run.

    Attributes:
        settings: settings of the run, such as configuration and batch size.
        fingerprint: {"run", "dev_set" or "test_set": checksum}, see
            `fingerprint_of`. Results with equal checksums may be compared.
        trained_with: {"flags", "versions", "step"} of the command that trained
            the weights, or None if unknown. Commands that do not train keep
            the value in the file.
        predictions: {"test_set": checksum, "files": fingerprint} of the
            latest predictions with these weights, or None without predictions.
        results: {name of a results file: its results}.
        seconds: {name of a phase of the run: its duration in seconds}.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.settings: Mapping[str, Any] = {}
        self.fingerprint: Mapping[str, str] = {}
        path = Path(config.output_dir) / _FILE
        earlier: dict[str, Any] = {}
        self._is_first = not path.is_file()
        with contextlib.suppress(OSError, ValueError):
            earlier = json_files.read_json(path)
        self.trained_with = earlier.get("trained_with")
        self.predictions = earlier.get("predictions")
        self.results: dict[str, Mapping[str, Any]] = {}
        self.seconds: dict[str, float] = {}
        self._started = time.monotonic()

    def add_training(self, step: int, has_trained: bool) -> None:
        """Records the command that trained the weights.

        Args:
            step: number of the last step.
            has_trained: whether this command trained any step. Otherwise the
                run was already complete, perhaps with other flags.
        """
        if has_trained:
            self.predictions = None
        if has_trained or self._is_first:
            flags = dict(self.config.all_flags)
            self.trained_with = {
                "flags": flags,
                "versions": _versions(),
                "step": step,
            }

    def add_predictions(self, names: Iterable[str]) -> None:
        """Records checksums of the files with this command's predictions."""
        folder = Path(self.config.output_dir)
        files = [str(folder / name) for name in sorted(names)]
        self.predictions = {
            "test_set": self.fingerprint.get("test_set"),
            "files": fingerprints.fingerprint(files, whole=True),
        }

    def write(self, global_step: int) -> None:
        """Writes `summary.json` into the run's folder, if this is the chief."""
        if not self.config.is_chief:
            return
        total = time.monotonic() - self._started
        summary = {
            "command": [os.path.basename(sys.argv[0]), *sys.argv[1:]],
            "flags": dict(self.config.given_flags),
            "all_flags": dict(self.config.all_flags),
            "settings": self.settings,
            "fingerprint": self.fingerprint,
            "versions": _versions(),
            "global_step": global_step,
            # At step 0, no command has trained these weights in this folder.
            "trained_with": self.trained_with if global_step else None,
            "predictions": self.predictions,
            "results": {
                name: finite(figures) for name, figures in self.results.items()
            },
            "seconds": {**self.seconds, "total_seconds": total},
            "peak_memory_bytes": costs.peak_memory(),
        }
        atomic.write_text(
            Path(self.config.output_dir) / _FILE,
            json.dumps(summary, indent=2, default=str) + "\n",
        )


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        "numpy": np.__version__,
    }


def fingerprint_of(
    settings: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, str]:
    """Returns {"run", "dev_set" or "test_set": checksum} of a run and its data.

    Args:
        settings: settings that must not change when a run is resumed
            (run_folder.py).
        data: {"dev_set" or "test_set": JSON-serializable description}.
    """
    names = settings.keys() - run_folder.MAY_BE_MISSING
    run = {name: settings[name] for name in names}
    return {
        part: hashlib.sha256(
            json.dumps(value, sort_keys=True).encode()
        ).hexdigest()[:16]
        for part, value in {"run": run, **data}.items()
    }


def finite(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Replaces NaN and infinity by None, because JSON cannot express them."""
    return {
        name: None
        if isinstance(value, float) and not math.isfinite(value)
        else value
        for name, value in figures.items()
    }
