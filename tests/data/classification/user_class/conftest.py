"""A user's class for Google's script, which tests write to a file."""

import pytest

CLASS = """\
class Tickets(DataProcessor):
  def get_train_examples(self, data_dir):
    return [{examples}]

  get_dev_examples = get_train_examples
  get_test_examples = get_train_examples

  def get_labels(self):
    return {labels}
"""
PAIR = 'InputExample("g1", "a", "b", "no")'
SINGLE = 'InputExample(2, b"c", None, 1)'


@pytest.fixture
def write_processor(tmp_path):
    """(examples, labels) -> FILE.py:CLASS of a class that returns these."""

    def write_processor(examples=f"{PAIR}, {SINGLE}", labels='["no", 1]'):
        path = tmp_path / "tickets.py"
        path.write_text(CLASS.format(examples=examples, labels=labels))
        return f"{path}:Tickets"

    return write_processor
