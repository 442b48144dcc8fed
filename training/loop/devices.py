"""Creates the tf.distribute strategies of a training, by its flags."""

import functools
import os

import tensorflow as tf
from absl import logging

from training.config.model_config import DeviceOptions, StrategyName


def connect_devices(options: DeviceOptions) -> tf.distribute.Strategy:
    """Connects the devices that options select, and returns their strategy.

    Later calls with the same options return the same strategy. The first call
    must come before TensorFlow uses a device.
    """
    if not options.is_tpu:
        return create_strategy(options.distribution_strategy)
    return create_strategy(
        "tpu",
        tpu=options.tpu_name or options.master,
        zone=options.tpu_zone,
        project=options.gcp_project,
    )


# Cached, so that all runs in a process use one connection to the workers.
@functools.cache
def create_strategy(
    name: StrategyName | None,
    *,
    tpu: str | None = None,
    zone: str | None = None,
    project: str | None = None,
) -> tf.distribute.Strategy:
    """Returns a tf.distribute strategy.

    If `name` is None, the strategy uses the workers in TF_CONFIG if it is set,
    else all GPUs if there are several, else one device.

    Args:
        name: a value of --distribution_strategy.
        tpu: name or address of a TPU.
        zone: zone of the TPU.
        project: project of the TPU.

    Raises:
        ValueError: `name` is "multi_worker", and TF_CONFIG is not set.
    """
    if name == "tpu":
        return _connect_tpu(tpu, zone, project)
    if name is None and "TF_CONFIG" in os.environ:
        name = "multi_worker"
    if name == "multi_worker":
        if "TF_CONFIG" not in os.environ:
            # Each worker would train a model of its own.
            raise ValueError(
                "--distribution_strategy=multi_worker needs the environment "
                "variable TF_CONFIG; see docs/devices.md"
            )
        return tf.distribute.MultiWorkerMirroredStrategy()
    gpus = tf.config.list_logical_devices("GPU")
    logging.info("GPUs that TensorFlow can use: %d", len(gpus))
    if name == "mirrored" or (name is None and len(gpus) > 1):
        devices = gpus or tf.config.list_logical_devices("CPU")
        return tf.distribute.MirroredStrategy(
            [device.name for device in devices]
        )
    return tf.distribute.get_strategy()


def _connect_tpu(
    tpu: str | None, zone: str | None, project: str | None
) -> tf.distribute.Strategy:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
        tpu, zone, project
    )
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)
