"""A user's file of Python that was written for Google's run_classifier.py."""

import re
import sys

import pytest

from data.classification.classification_examples import InputExample
from data.classification.google_code import (
    GoogleDataProcessor,
    UserCode,
    convert_to_unicode,
)

# Google's script imports TensorFlow, so users' classes may rely on it.
WITHOUT_IMPORTS = """\
class Tickets(DataProcessor):
  def read(self, data_dir):
    path = os.path.join(data_dir, "a.tsv")
    return [tf.constant(1), InputExample("g", path)]
"""


@pytest.fixture
def write_user_code(tmp_path):
    """(source) -> the UserCode of a file tickets.py with this source."""

    def write_user_code(source):
        path = tmp_path / "tickets.py"
        path.write_text(source)
        return UserCode(str(path))

    return write_user_code


def test_the_names_of_googles_script_need_no_import(write_user_code):
    names = write_user_code(WITHOUT_IMPORTS).run()
    number, example = names["Tickets"]().read("folder")
    assert number == 1
    assert example == InputExample("g", "folder/a.tsv")


def test_googles_modules_can_be_imported(write_user_code):
    names = write_user_code(
        "import tokenization\n"
        "from run_classifier import DataProcessor as Base\n"
        "text = tokenization.convert_to_unicode(b'caf\\xc3\\xa9')\n"
    ).run()
    assert names["Base"] is GoogleDataProcessor
    assert names["text"] == "café"


def test_modules_beside_the_file_can_be_imported(write_user_code, tmp_path):
    (tmp_path / "beside_the_file.py").write_text("NUMBER = 5\n")
    assert write_user_code("import beside_the_file as b").run()["b"].NUMBER == 5


def test_modules_and_paths_are_as_before_after_a_run(write_user_code):
    names = ("run_classifier", "tokenization")
    modules = [sys.modules.get(name) for name in names]
    paths = [*sys.path]
    write_user_code("import run_classifier, tokenization").run()
    assert [sys.modules.get(name) for name in names] == modules
    assert sys.path == paths


def test_the_code_of_a_file_has_its_name_and_path(write_user_code, tmp_path):
    names = write_user_code("").run()
    assert names["__name__"] == "tickets"
    assert names["__file__"] == str(tmp_path / "tickets.py")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n1 / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("x = (", "line 1: SyntaxError: '(' was never closed"),
        ("import optimization", "line 1: ModuleNotFoundError: No module"),
        (
            "\ntf.gfile.Open('a')",
            "line 2: TensorFlow 2 has no tf.gfile; write tf.io.gfile, and "
            "tf.io.gfile.GFile for tf.gfile.Open",
        ),
        (
            "from tensorflow import gfile",
            "line 1: TensorFlow 2 has no tf.gfile; write tf.io.gfile",
        ),
        (
            "tf.io.gfile.Open('a')",
            "line 1: TensorFlow 2 has no tf.io.gfile.Open; write "
            "tf.io.gfile.GFile, or the name in lower case",
        ),
        (
            "tf.logging.info('x')",
            "line 1: TensorFlow 2 has no tf.logging; write "
            "tf.compat.v1.logging",
        ),
        (
            "tf.app.run()",
            "line 1: TensorFlow 2 has no tf.app; copy the class into a file "
            "of its own",
        ),
    ],
)
def test_an_error_of_the_code_names_its_line(write_user_code, source, message):
    expected = f"^{re.escape(f'tickets.py, {message}')}"
    with pytest.raises(ValueError, match=expected):
        write_user_code(source).run()


def test_a_name_that_no_tensorflow_has_is_named_without_advice(write_user_code):
    expected = r"^tickets\.py, line 1: TensorFlow 2 has no tf\.contrib$"
    with pytest.raises(ValueError, match=expected):
        write_user_code("tf.contrib.data").run()


def test_a_missing_file_of_the_users_data_is_an_error_of_its_own(
    write_user_code,
):
    with pytest.raises(FileNotFoundError, match=r"third\.tsv"):
        write_user_code("open('third.tsv')").run()


@pytest.mark.parametrize(
    ("quotechar", "rows"),
    [
        (None, [['"a', 'b"'], [], ["c", "d"]]),
        ('"', [["a\tb"], [], ["c", "d"]]),
    ],
)
def test_read_tsv_splits_lines_at_tabs(tmp_path, quotechar, rows):
    path = tmp_path / "a.tsv"
    path.write_text('"a\tb"\n\nc\td\n')
    assert GoogleDataProcessor._read_tsv(path, quotechar) == rows


@pytest.mark.parametrize("text", ["café", b"caf\xc3\xa9", b"caf\xc3\xa9\xff"])
def test_a_text_may_be_bytes(text):
    assert convert_to_unicode(text) == "café"


def test_a_text_that_is_a_number_is_refused():
    with pytest.raises(ValueError, match=r"^5 is a int, not a text$"):
        convert_to_unicode(5)
