"""Which process writes files, and what runs on a TPU, by the flags."""

import json

import pytest

from training.config.model_config import DeviceOptions


def join_cluster(monkeypatch, cluster, job, index):
    """Makes this process a worker of a cluster, as TF_CONFIG does."""
    task = {"type": job, "index": index}
    config = json.dumps({"cluster": cluster, "task": task})
    monkeypatch.setenv("TF_CONFIG", config)


def test_a_process_without_a_cluster_writes_the_files(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert DeviceOptions().is_chief


@pytest.mark.parametrize(
    ("job", "is_chief"), [("chief", True), ("worker", False)]
)
def test_the_chief_of_a_cluster_writes_the_files(monkeypatch, job, is_chief):
    cluster = {"chief": ["a"], "worker": ["b"]}
    join_cluster(monkeypatch, cluster, job, 0)
    assert DeviceOptions().is_chief == is_chief


@pytest.mark.parametrize(("index", "is_chief"), [(0, True), (1, False)])
def test_the_first_worker_writes_the_files_if_there_is_no_chief(
    monkeypatch, index, is_chief
):
    join_cluster(monkeypatch, {"worker": ["a", "b"]}, "worker", index)
    assert DeviceOptions().is_chief == is_chief


@pytest.mark.parametrize(
    "device_options",
    [
        DeviceOptions(use_tpu=True),
        DeviceOptions(distribution_strategy="one_device"),
    ],
)
def test_a_cluster_does_not_concern_a_run_on_other_devices(
    monkeypatch, device_options
):
    cluster = {"chief": ["a"], "worker": ["b"]}
    join_cluster(monkeypatch, cluster, "worker", 0)
    assert device_options.is_chief


def test_a_cluster_that_is_not_json_is_named(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{cluster")
    with pytest.raises(ValueError, match="TF_CONFIG"):
        DeviceOptions().is_chief  # noqa: B018  the property is computed


def test_two_flags_select_a_tpu():
    assert DeviceOptions(use_tpu=True).is_tpu
    assert DeviceOptions(distribution_strategy="tpu").is_tpu
    assert not DeviceOptions().is_tpu
