"""Which models have a head that can be exported, and what this needs."""

import pytest

from exporting.export import CREATE_SIGNATURES_OF_CLASS
from serving.text_tasks.text_task_registry import TEXT_TASKS_OF_CLASS
from tests.support import fresh_process


def test_each_class_that_answers_texts_can_be_exported():
    """Else a new class lacks its entry."""
    assert TEXT_TASKS_OF_CLASS.keys() <= CREATE_SIGNATURES_OF_CLASS.keys()


@pytest.mark.slow
def test_a_saved_model_needs_no_onnx():
    code = """
import sys
sys.modules["onnx"] = None
import exporting.export
"""
    fresh_process.run("-c", code).check()
