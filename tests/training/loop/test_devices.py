"""The devices of a training, by --distribution_strategy.

The rest of this topic, training on several devices, is in
tests/across_scripts/test_distributed_training.py.
"""

import pytest

from training.loop import devices


def test_workers_need_their_addresses(monkeypatch):
    """Otherwise each worker would train a model of its own."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(ValueError, match="TF_CONFIG"):
        devices.create_strategy("multi_worker")
