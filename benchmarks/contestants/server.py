"""Clients that send a new request to serve.py as soon as they get a reply.

The clients are threads of this process. The server is another process. Its
model has random weights, which need as much time as trained weights.
"""

import concurrent.futures
import http.client
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import race
from benchmarks.contestants import ours

PACKAGES = ours.PACKAGES
# Number of words in the text of a request, about 35 WordPieces.
NUM_WORDS = 24
WARM_UP = 2.0
PATH = "/api/models/model/classify"


def start_server(spec):
    """Exports a model, starts a server for it, and returns the port."""
    folder = ours.export(spec, ours.with_samples_words(spec))
    log = Path(spec["folder"], "server.log")
    command = [sys.executable, "serve.py", f"--model=model={folder}"]
    command += ["--port=0"]
    with log.open("wb") as writer:
        process = subprocess.Popen(command, stdout=writer, stderr=writer)
    while not (found := re.search(r"ready: .*:(\d+)", log.read_text())):
        if process.poll() is not None:
            raise RuntimeError(log.read_text())
        time.sleep(0.1)
    return int(found[1])


def keep_asking(port, num_clients, seconds):
    """Sends requests for WARM_UP seconds, and then measures for `seconds`.

    Returns:
        dict of notes: requests answered per second, the median and the 99th
        percentile of the latency in milliseconds, and the number of failed
        requests.
    """
    words = (ours.SAMPLES / "vocab.txt").read_text(encoding="utf-8").split()
    words = [word for word in words if word.isalpha()]
    bodies = []
    for seed in range(256):
        text = " ".join(random.Random(seed).choices(words, k=NUM_WORDS))
        bodies.append(json.dumps({"text": text}).encode())
    begin = time.monotonic() + WARM_UP
    end = begin + seconds

    def client(number):
        replies = []
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        step = number * 37
        while (asked := time.monotonic()) < end:
            connection.request("POST", PATH, bodies[step % len(bodies)])
            response = connection.getresponse()
            response.read()
            replies.append((asked, time.monotonic(), response.status != 200))
            step += 1
        connection.close()
        return replies

    with concurrent.futures.ThreadPoolExecutor(num_clients) as pool:
        replies = sum(pool.map(client, range(num_clients)), [])
    asked, answered, failed = np.array(replies).T
    is_counted = asked > begin
    latencies = 1000 * (answered - asked)[is_counted]
    p50, p99 = np.percentile(latencies, [50, 99])
    rate = np.sum((answered > begin) & (answered <= end)) / seconds
    notes = {"requests/s": rate, "p50 ms": p50, "p99 ms": p99}
    return notes | {"failed": failed[is_counted].sum()}


def load(spec):
    """Starts a server. A repeat sends requests for `num_steps` seconds.

    The number of clients is spec["batch_size"].
    """
    port = start_server(spec)
    return race.Work(
        lambda seconds: keep_asking(port, spec["batch_size"], seconds), 0
    )
