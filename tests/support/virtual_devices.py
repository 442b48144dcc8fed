"""Writes scripts that run on several devices of one CPU.

For example:

    script = write_script_on_devices(path, "print(1)")
    script_runner.run(script, tmp_path).check()
"""

from pathlib import Path


def write_script_on_devices(path: Path, code: str, count: int = 2) -> Path:
    """Writes a script that splits the CPU into devices, and runs `code`."""
    path.write_text(f"""
import runpy
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * {count}
)
{code}
""")
    return path
