"""What ends serve.py before it loads a model."""

import socket

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from tests.support import script_runner
from tests.support.serving.engines import run_predict


def refusal_of(folder, *arguments, **flags):
    """Returns the error of a server that loads no model."""
    done = script_runner.run("serve.py", folder, *arguments, **flags)
    assert "loading" not in done.stderr
    return done.error


def test_a_port_in_use_is_an_error_before_models_load(tmp_path):
    (tmp_path / "model.tflite").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port={port}" in refusal_of(tmp_path, model=".", port=port)


def test_a_short_token_is_an_error_before_models_load(tmp_path):
    (tmp_path / "model.tflite").touch()
    (tmp_path / "short").write_text("a b")
    error = refusal_of(tmp_path, model=".", port=0, token_file="short")
    assert "--token_file=short" in error


def test_a_missing_model_is_named(tmp_path):
    assert "none does not exist" in refusal_of(tmp_path, model="none", port=0)


def test_two_models_of_one_name_are_refused(tmp_path, folders):
    twice = [f"--model={folders['ner']}"] * 2
    assert "--model=" in refusal_of(tmp_path, *twice)


def test_a_model_path_without_its_flag_names_the_flag(tmp_path):
    assert "--model=x" in refusal_of(tmp_path, "x")


def test_ctrl_c_before_loading_ends_the_server(folders):
    # Also in the background of a shell, which ignores the signal.
    code = """import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
import serve
from command_line import config_values, flags
from serving.http.serve_config import ServeConfig
def interrupt(config):
    os.kill(os.getpid(), signal.SIGINT)
    sys.exit(7)
serve.read_access = interrupt
config = config_values.create_config(ServeConfig, model=["m=" + sys.argv[1]])
serve.main(flags.ParsedCommand(config))
"""
    assert run_predict(code, folders["ner"]) == ""
