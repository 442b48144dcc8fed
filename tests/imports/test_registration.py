"""Classes that Keras finds by name before anyone has imported them."""

import pytest

from tests.support import fresh_process

# A class that a file of Keras may name.
MODULE = """\
class Boat:
    @classmethod
    def from_config(cls, config):
        return config["name"]
"""
REGISTER = """
from imports.registration import register_classes
register_classes("bert", {"Boat": "boats"}, "sibling")
"""
LOAD = """
import sys
boat = keras.saving.get_custom_objects()["bert>Boat"]
print("boats" in sys.modules, "sibling" in sys.modules)
print(boat.from_config({"name": "tug"}), "boats" in sys.modules)
"""


def run_beside_module(tmp_path, code):
    """Runs code beside a module `boats` with a class, and a `sibling`."""
    (tmp_path / "boats.py").write_text(MODULE)
    (tmp_path / "sibling.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"
    return fresh_process.run("-c", code).check().stdout


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"import keras\n{REGISTER}{LOAD}", id="keras first"),
        pytest.param(f"{REGISTER}\nimport keras\n{LOAD}", id="keras last"),
    ],
)
def test_a_class_is_imported_when_a_file_needs_it(tmp_path, code):
    assert run_beside_module(tmp_path, code) == "False True\ntug True\n"


def test_registering_does_not_import_keras(tmp_path):
    code = f"{REGISTER}\nimport sys\nprint('keras' in sys.modules)"
    assert run_beside_module(tmp_path, code) == "False\n"


def test_a_class_that_is_registered_already_stays(tmp_path):
    code = f"""
import keras
keras.saving.get_custom_objects()["bert>Boat"] = "the class"
{REGISTER}
print(keras.saving.get_custom_objects()["bert>Boat"])
"""
    assert run_beside_module(tmp_path, code) == "the class\n"
