"""serve.py in a process of its own, on a free port."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time

from tests.golden import ROOT

ENVIRONMENT = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"}
_READY = re.compile(r"ready: http://127\.0\.0\.1:(\d+)")


class ServerProcess:
    """A server, its port, and what it logs."""

    def __init__(self, folder, models, **flags):
        self.log = folder / "server.log"
        command = [
            sys.executable,
            ROOT / "serve.py",
            "--port=0",
            *(f"--model={name}={path}" for name, path in models.items()),
            *(f"--{name}={value}" for name, value in flags.items()),
        ]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=ENVIRONMENT
            )
        end = time.monotonic() + 300
        while not (found := _READY.search(self.log.read_text("utf-8"))):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        self.port = int(found[1])

    def ask(self, method, path, body=None, headers=None):
        """Returns (status, parsed JSON or text, headers) of a request."""
        if isinstance(body, dict | list):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=120
        )
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            text = response.read().decode()
            if response.headers.get_content_type() == "application/json":
                return response.status, json.loads(text), response.headers
            return response.status, text, response.headers

    def stop(self):
        """Sends SIGTERM; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()


@contextlib.contextmanager
def running(folder, models, **flags):
    """Yields a ServerProcess that ends with the block."""
    server = ServerProcess(folder, models, **flags)
    try:
        yield server
    finally:
        server.stop()
