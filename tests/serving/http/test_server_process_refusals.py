"""What ends serve.py before it loads a model."""

import os
import signal
import socket
import sys

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

import serve
from options.parsed_command import ParsedCommand
from serving.http.serve_config import ServeConfig
from tests.support import fork_server, script_runner
from tests.support.log_lines import printed_messages
from tests.support.waiting import TIMEOUT


def refusal_of(folder, *arguments, **flags):
    """Returns the error of a server that loads no model."""
    done = script_runner.run("serve.py", folder, *arguments, **flags)
    # The server logs that it loads models.
    assert not printed_messages(done)
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


def test_two_models_of_one_name_are_refused(tmp_path, export_folders):
    twice = [f"--model={export_folders['ner']}"] * 2
    assert "named ner" in refusal_of(tmp_path, *twice)


def test_a_model_path_without_its_flag_names_the_flag(tmp_path):
    assert "--model=x" in refusal_of(tmp_path, "x")


def press_ctrl_c(path):
    """Interrupts this process, which ends with status 7 if it survives."""
    os.kill(os.getpid(), signal.SIGINT)
    sys.exit(7)


def interrupt_before_loading(folder):
    """Runs serve.py in the background of a shell, which ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve.read_token = press_ctrl_c
    config = ServeConfig.from_values(model=[f"m={folder}"])
    serve.main(ParsedCommand(config))


def test_ctrl_c_before_loading_ends_the_server(export_folders):
    process = fork_server.PROCESSES.Process(
        target=interrupt_before_loading,
        args=[export_folders["ner"]],
        daemon=True,
    )
    process.start()
    process.join(TIMEOUT)
    assert process.exitcode == 0
