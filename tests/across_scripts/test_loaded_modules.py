"""Which packages predict.py and serve.py load to run a LiteRT export."""

import json

import pytest

from tests.support import fresh_process
from tests.support.serving import exports

# Packages that only training, exports and SavedModels need.
LARGE = {"tensorflow", "keras", "modeling", "training", "scipy", "sklearn"}
# Runs a program, and then writes the names of all packages that it loaded.
RUN = """
import atexit, json, runpy, sys

def show():
    print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))

atexit.register(show)
program, *sys.argv = sys.argv[1:]
exec(program)
"""
PREDICT = 'runpy.run_path("predict.py", run_name="__main__")'
SERVE = """
import serve
from serving.http import server_process
from serving.http.server_state import ExportToServe
from serving.engines import EngineOptions

ExportToServe(sys.argv[1], EngineOptions(engine="litert")).load_worker()
"""


def loaded_packages(program, *arguments):
    """Returns the names of the packages that a program loads."""
    done = fresh_process.run("-c", RUN, program, *arguments).check()
    return {*json.loads(done.stdout.splitlines()[-1])}


@pytest.fixture(scope="module")
def encoder_export(tmp_path_factory):
    """The folder of an encoder for LiteRT."""
    folder = tmp_path_factory.mktemp("litert") / "export"
    exports.export_model("features", folder, exports.create_options("litert"))
    return folder


def test_predict_loads_no_training_and_no_tensorflow(encoder_export):
    names = loaded_packages(
        PREDICT, "predict.py", f"--model={encoder_export}", "A boat."
    )
    assert "ai_edge_litert" in names
    assert not names & LARGE


def test_serve_loads_no_training_and_no_tensorflow(encoder_export):
    pytest.importorskip("fastapi", reason="needs requirements/serve.txt")
    names = loaded_packages(SERVE, "serve.py", str(encoder_export))
    assert {"ai_edge_litert", "uvicorn"} <= names
    assert not names & LARGE


def test_serving_loads_neither_keras_nor_tensorflow():
    names = loaded_packages("import serving; serving.load", "")
    assert {"serving", "model_folders"} <= names
    assert not names & LARGE
