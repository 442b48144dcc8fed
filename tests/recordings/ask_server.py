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


def ask(port, request):
    """Returns the status and the reply to {"path": .., "body": ..}."""
    connection = http.client.HTTPConnection("127.0.0.1", port, TIMEOUT_S)
    body = json.dumps(request["body"]) if "body" in request else None
    connection.request("POST" if body else "GET", request["path"], body)
    response = connection.getresponse()
    reply = response.read().decode()
    if response.headers.get_content_type() == "application/json":
        reply = json.loads(reply)
    connection.close()
    return {**request, "status": response.status, "reply": reply}


def wait_until_ready(server):
    """Returns the port of a server whose models are loaded."""
    for line in server.stderr:
        print(line, end="", file=sys.stderr)
        if match := re.search(r"ready: http://[\d.]+:(\d+)", line):
            return int(match[1])
    raise OSError("the server has ended before it was ready")


def main(requests, replies, *command):
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
