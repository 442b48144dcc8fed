"""Types of `tf.config`: the devices of this process."""

from tensorflow.config import experimental as experimental
from tensorflow.config import threading as threading
from tensorflow.distribute.cluster_resolver import TPUClusterResolver

class LogicalDevice:
    device_type: str
    name: str

class PhysicalDevice:
    device_type: str
    name: str

class LogicalDeviceConfiguration: ...

def experimental_connect_to_cluster(
    cluster_spec_or_resolver: TPUClusterResolver,
    job_name: str = "localhost",
) -> None: ...
def list_logical_devices(
    device_type: str | None = None,
) -> list[LogicalDevice]: ...
def list_physical_devices(
    device_type: str | None = None,
) -> list[PhysicalDevice]: ...
def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: list[LogicalDeviceConfiguration]
) -> None: ...
