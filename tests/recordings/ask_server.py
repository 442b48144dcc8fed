"""Starts a server, and writes its replies to requests, one after the other.

python ask_server.py REQUESTS.jsonl REPLIES.jsonl serve.py --model=DIR ...
"""

import http.client
import json
import re
import signal
import subprocess
import sys

TIMEOUT_S = 60


def ask(port: int, request: dict[str, object]) -> dict[str, object]:
    """Returns the status and the reply to {"path": .., "body": ..}."""
    connection = http.client.HTTPConnection("127.0.0.1", port, TIMEOUT_S)
    body = json.dumps(request["body"]) if "body" in request else None
    method = "POST" if body else "GET"
    connection.request(method, str(request["path"]), body)
    response = connection.getresponse()
    content = response.read().decode()
    reply: object = content
    if response.headers.get_content_type() == "application/json":
        reply = json.loads(content)
    connection.close()
    return {**request, "status": response.status, "reply": reply}


def wait_until_ready(server: subprocess.Popen[str]) -> int:
    """Returns the port of a server whose models are loaded."""
    assert server.stderr is not None
    for line in server.stderr:
        print(line, end="", file=sys.stderr)
        if match := re.search(r"ready: http://[\d.]+:(\d+)", line):
            return int(match[1])
    raise OSError("the server has ended before it was ready")


def main(requests: str, replies: str, *command: str) -> int:
    with subprocess.Popen(
        [sys.executable, *command, "--port=0"],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            port = wait_until_ready(server)
            with open(requests) as lines, open(replies, "w") as writer:
                for line in lines:
                    reply = ask(port, json.loads(line))
                    writer.write(json.dumps(reply) + "\n")
        finally:
            server.send_signal(signal.SIGTERM)
            # Read what the server still writes, or it waits for its reader.
            server.communicate(timeout=TIMEOUT_S)
    return server.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
