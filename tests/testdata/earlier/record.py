"""Makes the files beside it with the scripts of an earlier commit.

    git worktree add ../earlier 3e0a75b
    python tests/testdata/earlier/record.py ../earlier

It runs commands.json in this folder, with that commit's scripts, so that all
paths in the files are relative. Delete the files of the last recording first.
"""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
# Runs whose end the tests compare, and the file that exists when a run is
# stopped; None for a run that is not.
STOPS = {
    "from_original": None,
    "pretraining": "pretraining/model.ckpt-10.index",
    "classifier": "classifier/best/checkpoint",
    "distilled": "distilled/model.ckpt-10.index",
}
ASKED = {
    "classifier": {
        "text_a": "The river kept the gull at noon.",
        "text_b": "The river kept the gull, at sea.",
    },
    "squad": {
        "question": "Who kept the lamp?",
        "context": "The gull kept the lamp at noon.",
    },
}


def probe() -> str:
    """Returns a checksum of products and functions of fixed numbers.

    Two machines on which it differs round differently, so that runs of the
    same code differ in the last bits, too.
    """
    import numpy as np
    import tensorflow as tf

    def numbers(*shape):
        count = np.arange(np.prod(shape), dtype=np.int64)
        return tf.constant(
            (count * 7919 % 1009 / 1009 - 0.5).reshape(shape), tf.float32
        )

    @tf.function(autograph=False)
    def results():
        found = [
            tf.matmul(numbers(rows, inner), numbers(inner, columns))
            for rows, inner, columns in ((96, 8, 8), (192, 16, 8), (8, 192, 76))
        ]
        x = 4 * numbers(64, 76)
        found += [tf.nn.softmax(x), tf.tanh(x), tf.math.erf(x), tf.exp(x)]
        found += [tf.nn.gelu(x), tf.reduce_sum(x, -1), tf.reduce_mean(x, 0)]
        found += [tf.math.rsqrt(tf.abs(x) + 1), tf.norm(x)]
        return found

    checksum = hashlib.sha256()
    for result in results():
        checksum.update(result.numpy().tobytes())
    return checksum.hexdigest()


def main() -> None:
    """Runs all commands, and keeps what the tests need."""
    checkout = Path(sys.argv[1]).resolve()

    def start(script, flags, **options):
        line = [sys.executable, str(checkout / script)]
        line += [f"--{name}={value}" for name, value in flags.items()]
        return subprocess.Popen(line, cwd=HERE, **options)

    def finish(script, flags):
        assert start(script, flags).wait() == 0

    for name, (script, flags) in json.loads(
        (HERE / "commands.json").read_text()
    ).items():
        if name not in STOPS:
            finish(script, flags)
            continue
        if STOPS[name]:
            with start(script, flags) as process:
                while not (HERE / STOPS[name]).exists():
                    assert process.poll() is None
                    time.sleep(0.001)
                process.send_signal(signal.SIGTERM)
            assert process.returncode == 75, "it ended before it was stopped"
        finish(script, flags | {"output_dir": f"{name}_end"})
        for path in (HERE / f"{name}_end").iterdir():
            if not path.name.startswith(("model.ckpt-", "eval_r", "test_r")):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    answers = {}
    for name, request in ASKED.items():
        model = f"exports/{name}"
        line = [sys.executable, str(checkout / "predict.py")]
        done = subprocess.run(
            [*line, f"--model={model}"],
            input=json.dumps(request),
            capture_output=True,
            check=True,
            cwd=HERE,
            text=True,
        )
        answers[model] = [request, json.loads(done.stdout)]
    for path in HERE.glob("unused*"):
        shutil.rmtree(path)
    expected = {"probe": probe(), "answers": answers}
    (HERE / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
