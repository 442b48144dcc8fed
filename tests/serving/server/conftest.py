"""One server for all tests of this folder."""

import pytest

from tests.serving.conftest import REQUESTS
from tests.serving.server.server_process import running


@pytest.fixture(scope="session")
def server(tmp_path_factory, export_folder):
    """Has a model of every kind but multiple choice, which takes no text."""
    models = {kind: export_folder / kind for kind in REQUESTS}
    del models["multiple_choice"]
    folder = tmp_path_factory.mktemp("server")
    with running(folder, models, batch_wait_ms=5) as process:
        yield process
