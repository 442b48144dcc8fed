"""Times serve.py: requests a second and latencies, with batches and without.

    python benchmarks/serve_benchmark.py --shape=minilm
    python benchmarks/serve_benchmark.py --shape=tiny --soak_s=600

The model has random weights, which take as long as trained ones. A client
asks, waits for the answer, and asks again. The clients share a process of
their own. With --soak_s hostile requests come among good ones instead: no
answer may be lost, and the server's memory may not grow.
"""

import concurrent.futures
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from absl import app, flags

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

FLAGS = flags.FLAGS
# hidden size, blocks, heads, feed-forward size
SHAPES = {
    "tiny": (32, 2, 2, 64),
    "minilm": (384, 6, 12, 1536),
    "base": (768, 12, 12, 3072),
}
flags.DEFINE_enum("shape", "minilm", [*SHAPES], "Size of the model.")
flags.DEFINE_list("clients", ["1", "8", "64"], "Clients at a time.")
flags.DEFINE_float("seconds", 15.0, "Seconds that each row is timed.")
flags.DEFINE_integer("words", 24, "Words of a text, about 32 WordPieces.")
flags.DEFINE_float("soak_s", 0.0, "Seconds of a soak; 0 times rows instead.")
flags.DEFINE_multi_string("server_flag", [], "Further flags of serve.py.")

VOCAB = ROOT / "samples" / "vocab.txt"
WARM_UP = 2.0
TURNS = 3
PATH = "/v1/models/model:predict"


def export_model(folder: Path) -> None:
    """Exports a classifier with random weights."""
    import modeling
    import serving

    width, blocks, heads, inner = SHAPES[FLAGS.shape]
    config = modeling.BertConfig(
        vocab_size=30522,
        hidden_size=width,
        num_hidden_layers=blocks,
        num_attention_heads=heads,
        intermediate_size=inner,
    )
    model = modeling.BertClassifier(config, 2)
    model.build()
    options = serving.ServingOptions(VOCAB, max_seq_length=128)
    serving.export_classifier(folder, model, ["no", "yes"], options)


@contextlib.contextmanager
def running(folder: Path, *more: str):
    """Yields (port, process id) of a server."""
    log = folder.with_suffix(f".{len(more)}.log")
    with log.open("wb") as writer:
        process = subprocess.Popen(
            [
                *(sys.executable, ROOT / "serve.py"),
                *(f"--model=model={folder}", "--port=0"),
                *(*more, *FLAGS.server_flag),
            ],
            stdout=writer,
            stderr=writer,
        )
    try:
        while not (found := re.search(r"ready: .*:(\d+)", log.read_text())):
            if process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.1)
        yield int(found[1]), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        status = process.wait(120)
        if status:
            print(f"the server ended with status {status}: {log.read_text()}")


def create_body(seed: int, num_words: int) -> bytes:
    """Returns a request with one text."""
    rng = random.Random(seed)
    words = [
        word
        for word in VOCAB.read_text(encoding="utf-8").split()
        if word.isalpha()
    ]
    text = " ".join(rng.choices(words, k=num_words))
    request = {"signature_name": "classify_text", "instances": [text]}
    return json.dumps(request).encode()


def ask(connection: http.client.HTTPConnection, body: bytes) -> int:
    """Returns the status of the answer."""
    connection.request("POST", PATH, body)
    response = connection.getresponse()
    response.read()
    return response.status


def keep_asking(port: int, num_clients: int, seconds: float, num_words: int):
    """Keeps a server busy, and counts when all clients have begun.

    Returns:
        (latencies, rate, failures): the seconds of each request; requests
        answered in a second; and how many failed.
    """
    bodies = [create_body(seed, num_words) for seed in range(256)]
    begin = time.monotonic() + WARM_UP
    end = begin + seconds

    def client(number: int):
        latencies, answered, failures = [], 0, 0
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        for step in range(10**9):
            asked = time.monotonic()
            if asked > end:
                break
            status = ask(connection, bodies[(number * 37 + step) % 256])
            now = time.monotonic()
            answered += begin < now <= end
            if asked > begin:
                latencies.append(now - asked)
                failures += status != 200
        connection.close()
        return latencies, answered, failures

    with concurrent.futures.ThreadPoolExecutor(num_clients) as pool:
        found = list(pool.map(client, range(num_clients)))
    latencies, answered, failures = zip(*found, strict=True)
    return sum(latencies, []), sum(answered) / seconds, sum(failures)


def time_rows(folder: Path) -> None:
    """Prints a table.

    The two servers take turns, so that both have the machine's better and
    worse times.
    """
    print("| clients | batches | requests/s | p50 ms | p99 ms | failed |")
    print("|---|---|---|---|---|---|")
    with (
        running(folder) as (with_batches, _),
        running(folder, "--max_batch_size=1") as (without, _),
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        servers = {"on": with_batches, "off": without}
        for clients in map(int, FLAGS.clients):
            turns: dict[str, list] = {name: [] for name in servers}
            for name in [*servers] * TURNS:
                seconds = FLAGS.seconds / TURNS
                asked = servers[name], clients, seconds, FLAGS.words
                turns[name].append(pool.apply(keep_asking, asked))
            for name, found in turns.items():
                latencies, rates, failed = zip(*found, strict=True)
                p50, p99 = 1000 * np.percentile(sum(latencies, []), [50, 99])
                print(
                    f"| {clients} | {name} | {np.mean(rates):.1f} | {p50:.0f} "
                    f"| {p99:.0f} | {sum(failed)} |",
                    flush=True,
                )


def memory(process_id: int) -> float:
    """Returns the resident memory of a process, in MB."""
    status = Path(f"/proc/{process_id}/status").read_text()
    (kilobytes,) = re.findall(r"VmRSS:\s+(\d+)", status)
    return int(kilobytes) / 1000


def hostile(port: int, seed: int) -> None:
    """Sends something that is no request, or too much of one."""
    rng = random.Random(seed)
    head = f"POST {PATH} HTTP/1.1\r\nHost: a\r\n".encode()
    data = rng.choice(
        [
            rng.randbytes(1000),
            b"GET /" + b"a" * 100_000,
            head + b"Content-Length: 900000\r\n\r\n" + b"[" * 900_000,
            head + b"Content-Length: 3000000\r\n\r\n" + b" " * 3_000_000,
            head + b"Content-Length: 100\r\n\r\n{",
            head + b"Content-Length: 2\r\n\r\n{}",
            head + b"X: y\r\n" * 20_000,
        ]
    )
    with contextlib.suppress(OSError):
        with socket.create_connection(("127.0.0.1", port), 30) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass


def soak(folder: Path) -> None:
    """Prints how many answers were lost, and the memory meanwhile."""
    with running(folder) as (port, process_id):
        end = time.monotonic() + FLAGS.soak_s

        def trouble(number: int) -> int:
            step = 0
            while time.monotonic() < end:
                hostile(port, number * 10**6 + step)
                step += 1
            return step

        memories: list[float] = []

        def watch() -> None:
            while time.monotonic() < end:
                memories.append(memory(process_id))
                time.sleep(max(FLAGS.soak_s / 100, 0.5))

        threading.Thread(target=watch, daemon=True).start()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            good = pool.submit(
                keep_asking, port, 8, FLAGS.soak_s - WARM_UP, FLAGS.words
            )
            bad = [pool.submit(trouble, number) for number in range(2)]
            latencies, _, failed = good.result()
            num_bad = sum(each.result() for each in bad)
    half = len(memories) // 2
    print(
        f"{len(latencies)} good requests, {failed} without their answer; "
        f"{num_bad} hostile ones; memory {memories[0]:.0f} MB at first, "
        f"{max(memories[:half]):.0f} MB at most in the first half, "
        f"{max(memories[half:]):.0f} MB in the second"
    )


def main(_: list[str]) -> None:
    """Exports a model and times the server, or soaks it."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "model"
        export_model(folder)
        if FLAGS.soak_s:
            soak(folder)
        else:
            time_rows(folder)


if __name__ == "__main__":
    app.run(main)
