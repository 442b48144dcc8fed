"""Classes that Keras finds by name before anyone has imported them."""

import keras
import pytest

import data.text
import modeling
from model_folders.saved_classes import MODULE_OF_SAVED_CLASS
from tests.support import fresh_process

NAME = "bert>ClassifierLoss"
LOAD = f"""
loss = keras.saving.get_custom_objects()["{NAME}"]
print("modeling.losses" in sys.modules)
loss = loss.from_config({{"class_weights": [1.0, 2.0]}})
print(type(loss).__name__, loss.get_config()["class_weights"])
"""


def run_in_new_process(code):
    """Returns what code prints in a new process."""
    return fresh_process.run("-c", f"import sys\n{code}").check().stdout


@pytest.mark.parametrize(
    "imports",
    [
        pytest.param("import keras, modeling", id="keras first"),
        pytest.param("import modeling, keras", id="keras last"),
        pytest.param("import data.text, keras", id="only another package"),
    ],
)
def test_a_class_is_imported_when_a_file_needs_it(imports):
    output = run_in_new_process(f"{imports}\n{LOAD}")
    assert output == "False\nClassifierLoss [1.0, 2.0]\n"


def test_registering_imports_neither_keras_nor_the_other_package():
    printed = "{'keras', 'modeling'} & {*sys.modules}"
    assert (
        run_in_new_process(f"import data.text\nprint({printed})") == "set()\n"
    )


def test_importing_keras_does_not_import_modeling_into_data():
    output = run_in_new_process(
        "import data.text, keras\nprint('modeling' in sys.modules)"
    )
    assert output == "False\n"


def test_a_class_that_is_registered_already_stays():
    code = f"""
import keras
keras.saving.get_custom_objects()["{NAME}"] = "the class"
import modeling
print(keras.saving.get_custom_objects()["{NAME}"])
"""
    assert run_in_new_process(code) == "the class\n"


def test_all_classes_that_a_file_may_name_are_listed():
    """Keras could not load a file that names another class."""
    values = [
        getattr(package, name)
        for package in (modeling, data.text)
        for name in package.__all__
    ]
    saved = {
        value.__name__: value.__module__
        for value in values
        if isinstance(value, type)
        and keras.saving.get_registered_name(value).startswith("bert>")
    }
    assert saved == MODULE_OF_SAVED_CLASS
