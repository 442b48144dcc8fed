"""What a model of serve.py tells about itself, and when it is loaded.

tests/serving/http/test_call_queue.py asks such models: how calls wait, and
which are computed together.
"""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.served_model import ServedModel
from serving.serving_flags import EngineFlags
from tests.support.serving.echo_models import EchoEngine, create_echo


@pytest.mark.parametrize(
    "path, version", [("models/7", "7"), ("models/7/", "7"), ("ner", "1")]
)
def test_the_version_is_the_number_of_the_folder(path, version):
    assert ServedModel(path, EngineFlags()).version == version


def test_a_model_has_no_tasks_before_it_is_loaded():
    model = create_echo(EchoEngine())
    assert not model.text_task_of_name
    model.load()
    assert [*model.text_task_of_name] == ["task"]


def test_a_loaded_model_tells_the_fields_of_its_tasks():
    model = create_echo(EchoEngine())
    model.load()
    assert model.about["fields"] == {"task": ["text"]}
