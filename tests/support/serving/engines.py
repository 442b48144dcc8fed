"""Names the engines that are installed, and runs programs without others.

For example:

    @pytest.mark.parametrize("engine", ENGINES)
"""

from pathlib import Path

import pytest

from dependencies.installation import install_command
from exporting import export_formats
from exporting.export_formats import ExportFormat
from files.paths import StrPath
from tests.support import fresh_process
from tests.support.serving.exports import INSTALLED


def needs_engine(name: ExportFormat) -> pytest.MarkDecorator:
    """Returns a mark that skips a test if an engine is not installed."""
    package = export_formats.PACKAGE_OF_FORMAT[name]
    reason = f"needs {install_command(package)}"
    return pytest.mark.skipif(name not in INSTALLED, reason=reason)


ENGINES = [
    pytest.param(name, marks=needs_engine(name))
    for name in export_formats.FILE_OF_FORMAT
]
BLOCK = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        refused = "tensorflow keras google.protobuf safetensors scipy sklearn"
        assert not name.startswith(tuple(refused.split())), name

sys.meta_path.insert(0, Refuse())
"""
PREDICT = 'import runpy\nrunpy.run_path("predict.py", run_name="__main__")'


def run_predict(script: str, *arguments: StrPath, text: str = "") -> str:
    """Runs a program that has only what requirements/predict.txt lists."""
    done = fresh_process.run("-c", BLOCK + script, *arguments, text=text)
    return done.check().stdout


def sums_int8_in_16_bits() -> bool:
    """Returns whether this CPU sums pairs of int8 products in 16 bits."""
    cpu = Path("/proc/cpuinfo")
    text = cpu.read_text(encoding="utf-8") if cpu.exists() else ""
    return "avx2" in text and "vnni" not in text
