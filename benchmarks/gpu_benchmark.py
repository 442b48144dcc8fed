"""Times forward and backward pass on a GPU, next to transformers' in torch.

    # Of torch, the build for CUDA.
    pip install -r requirements.txt -r requirements/bench.txt "jax[cuda13]"
    python benchmarks/gpu_benchmark.py

The network is the one that trains on TensorFlow, here on Keras's JAX backend:
`BertPretrainer` with the pretraining loss and dropout, under `jax.jit`, over
float32 variables in bfloat16. The peer is BertForPreTraining under autocast,
which also predicts the positions that are not masked: its work is larger, its
MFU counts the same operations as ours. MFU is against a product of two
matrices in bfloat16, measured in the same process. Each side is a process of
its own, since each takes the whole GPU's memory; they take turns.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from absl import app, flags

ROOT = Path(__file__).resolve().parent.parent
FLAGS = flags.FLAGS

SIZES = {
    "tiny": "uncased_L-2_H-128_A-2",
    "base": "uncased_L-12_H-768_A-12",
    "large": "uncased_L-24_H-1024_A-16",
}
# Batch size, length, and the masked positions of the paper's phases.
SHAPES = ((32, 128, 20), (8, 512, 77))
REPEATS = 10
SIDES = ("ours", "transformers")


def define_flags():
    """Defines the flags."""
    flags.DEFINE_enum("device", "cuda", ["cuda", "cpu"], "cpu is for a try.")
    flags.DEFINE_list("size", ["base", "large"], f"Of {', '.join(SIZES)}.")
    flags.DEFINE_integer("rounds", 3, "Turns that each side takes.", 1)
    flags.DEFINE_enum("side", None, SIDES, "Time this one only, in JSON.")


def read_config(size):
    """Returns the configuration of a size, a dict."""
    return json.loads((ROOT / "configs" / f"{SIZES[size]}.json").read_text())


def median_seconds(step, wait):
    """Returns the median of some calls, after warm-up."""
    seconds = []
    for _ in range(REPEATS + 3):
        started = time.perf_counter()
        wait(step())
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[3:])


def create_ours(size, batch_size, length, num_predictions):
    """Returns (step, wait, operations of a step, matrix product)."""
    import jax
    import jax.numpy as jnp
    import keras
    import numpy as np

    import modeling
    from modeling import losses

    keras.config.set_dtype_policy("mixed_bfloat16")
    config = modeling.BertConfig.from_dict(read_config(size))
    model = modeling.BertPretrainer(config)
    model.build()
    loss = losses.PretrainingLoss()
    rng = np.random.default_rng(0)
    shape = batch_size, length
    predicted = batch_size, num_predictions
    ids = rng.integers(config.vocab_size, size=shape)
    features = {
        "input_ids": ids,
        "input_mask": np.ones(shape),
        "segment_ids": np.zeros(shape),
        "masked_lm_positions": rng.integers(length, size=predicted),
        "masked_lm_ids": rng.integers(config.vocab_size, size=predicted),
        "next_sentence_labels": rng.integers(2, size=(batch_size, 1)),
    }
    features = {name: jnp.int32(value) for name, value in features.items()}
    features["masked_lm_weights"] = jnp.ones(predicted)

    def total(trainable, others):
        outputs, others = model.stateless_call(
            trainable, others, features, training=True
        )
        return loss(outputs, features)[0], others

    gradients = jax.jit(jax.value_and_grad(total, has_aux=True))
    trainable = [variable.value for variable in model.trainable_variables]
    others = [variable.value for variable in model.non_trainable_variables]
    matrix = jnp.ones((8192 if FLAGS.device == "cuda" else 1024,) * 2)
    matrix = matrix.astype(jnp.bfloat16)
    product = jax.jit(lambda: matrix @ matrix)
    return (
        lambda: gradients(trainable, others),
        jax.block_until_ready,
        lambda: product(),
    )


def create_transformers(size, batch_size, length, num_predictions):
    """Returns what `create_ours` returns."""
    import torch
    import transformers

    device = FLAGS.device
    config = transformers.BertConfig(**read_config(size))
    model = transformers.BertForPreTraining(config).to(device).train()
    ids = torch.randint(config.vocab_size, (batch_size, length))
    labels = torch.full_like(ids, -100)
    labels[:, :num_predictions] = ids[:, :num_predictions]
    batch = {
        "input_ids": ids,
        "labels": labels,
        "next_sentence_label": torch.randint(2, (batch_size,)),
    }
    batch = {name: value.to(device) for name, value in batch.items()}
    matrix = torch.ones((8192 if device == "cuda" else 1024,) * 2)
    matrix = matrix.to(device, torch.bfloat16)

    def step():
        model.zero_grad()
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(**batch).loss
        loss.backward()

    def wait(_):
        if device == "cuda":
            torch.cuda.synchronize()

    return step, wait, lambda: matrix @ matrix


def flops(size, batch_size, length, num_predictions):
    """As training.costs.training_flops, which imports TensorFlow."""
    config = read_config(size)
    width = config["hidden_size"]
    block = 4 * width**2 + 2 * width * config["intermediate_size"]
    encoder = (
        config["num_hidden_layers"] * length * (block + 2 * length * width)
    )
    head = num_predictions * width * (width + config["vocab_size"])
    return batch_size * 3 * 2 * (encoder + head + width**2)


def time_side():
    """Prints the seconds of one side, a JSON line for each shape."""
    create = {"ours": create_ours, "transformers": create_transformers}
    for size in FLAGS.size:
        for shape in SHAPES:
            step, wait, product = create[FLAGS.side](size, *shape)
            width = 8192 if FLAGS.device == "cuda" else 1024
            rate = 2 * width**3 / median_seconds(product, wait)
            seconds = median_seconds(step, wait)
            print(json.dumps([size, *shape[:2], seconds, rate]), flush=True)
            del step


def has_gpu():
    """Returns whether there is a GPU with its driver."""
    try:
        return not subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, check=False
        ).returncode
    except OSError:
        return False


def run_side(side):
    """Returns {(size, batch size, length): (seconds, rate)} of a process."""
    command = [sys.executable, __file__, f"--side={side}"]
    command += [f"--device={FLAGS.device}", f"--size={','.join(FLAGS.size)}"]
    platform = {"JAX_PLATFORMS": FLAGS.device, "KERAS_BACKEND": "jax"}
    result = subprocess.run(
        command,
        env=os.environ | platform,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode:
        print(f"{side} failed or is not installed: not timed")
    found = {}
    for line in result.stdout.splitlines():
        *shape, seconds, rate = json.loads(line)
        found[tuple(shape)] = seconds, rate
    return found


def main(_):
    """Prints seconds and MFU of both sides."""
    if FLAGS.side:
        sys.path.insert(0, str(ROOT))
        return time_side()
    if FLAGS.device == "cuda" and not has_gpu():
        print("No GPU here: forward and backward pass on a GPU not timed.")
        return 0
    measured = {}
    for _ in range(FLAGS.rounds):
        for side in SIDES:
            for shape, pair in run_side(side).items():
                measured.setdefault((shape, side), []).append(pair)
    rates = [pair[1] for pairs in measured.values() for pair in pairs]
    for shape, *given in [
        ((size, *rest[:2]), size, *rest)
        for size in FLAGS.size
        for rest in SHAPES
    ]:
        for side in SIDES:
            if (shape, side) not in measured:
                continue
            pairs = measured[shape, side]
            seconds = statistics.median(pair[0] for pair in pairs)
            mfu = flops(*given) / seconds / max(rates)
            size, batch_size, length = shape
            print(
                f"{size:5} {batch_size:2} x {length:3}  {side:12}  "
                f"{seconds:8.4f} s  MFU {mfu:.2f}"
            )
    if rates:
        print(f"matrix product, bfloat16: {max(rates) / 1e12:,.1f} TFLOP/s")
    return 0


if __name__ == "__main__":
    define_flags()
    app.run(main)
