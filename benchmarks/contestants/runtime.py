"""One exported classifier in its runtime, timed over ids.

The runtimes are those of --export_format, TensorFlow for a SavedModel, and
torch for transformers' own model of the same weights.
"""

import contextlib
import statistics
import time
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks.contestants import worker

NAMES = ("input_ids", "input_mask", "segment_ids")
# What each runtime is in, for its version.
PACKAGES = {
    "saved_model": "tensorflow",
    "litert": "ai-edge-litert",
    "onnx": "onnxruntime",
    "openvino": "openvino",
    "torch": "torch",
}


def load_saved_model(path):
    """Returns (batch) -> list of outputs."""
    import tensorflow as tf

    loaded = tf.saved_model.load(str(path))
    signature = loaded.signatures["serve"]

    def run(batch):
        tensors = {name: tf.constant(batch[name]) for name in NAMES}
        return [value.numpy() for value in signature(**tensors).values()]

    # Else the loaded model is freed with its variables.
    run.loaded = loaded
    return run


def load_litert(path):
    """Returns (batch) -> list of outputs."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(Path(path, "model.tflite")), num_threads=2)
    inputs = {
        name: each["index"]
        for each in interpreter.get_input_details()
        for name in NAMES
        if name in each["name"]
    }
    shapes = []

    def run(batch):
        if shapes != [batch[NAMES[0]].shape]:
            shapes[:] = [batch[NAMES[0]].shape]
            for name, index in inputs.items():
                interpreter.resize_tensor_input(index, batch[name].shape)
            interpreter.allocate_tensors()
        for name, index in inputs.items():
            interpreter.set_tensor(index, batch[name])
        interpreter.invoke()
        return [
            interpreter.get_tensor(each["index"])
            for each in interpreter.get_output_details()
        ]

    return run


def load_onnx(path):
    """Returns (batch) -> list of outputs.

    Args:
        path: folder of a model, or of one for each length, named by it.
    """
    import onnxruntime

    sessions = {
        file.parent.name: onnxruntime.InferenceSession(
            str(file), providers=["CPUExecutionProvider"]
        )
        for file in Path(path).rglob("model.onnx")
    }

    def run(batch):
        length = str(batch[NAMES[0]].shape[1])
        session = sessions.get(length) or next(iter(sessions.values()))
        names = [each.name for each in session.get_inputs()]
        return session.run(
            None, {name: batch[name.partition(":")[0]] for name in names}
        )

    return run


def load_openvino(path, precision="f32"):
    """Returns (batch) -> list of outputs."""
    import openvino

    compiled = openvino.compile_model(
        str(Path(path, "model.xml")),
        "CPU",
        {"INFERENCE_PRECISION_HINT": precision},
    )
    inputs = {
        each: name
        for each in compiled.inputs
        for name in NAMES
        if any(name in other for other in each.get_names())
    }
    return lambda batch: list(
        compiled({each: batch[name] for each, name in inputs.items()}).values()
    )


def load_torch(path, precision="float32"):
    """Returns (batch) -> list of outputs, of a Hugging Face folder."""
    import torch
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        str(path), dtype=getattr(torch, precision)
    ).eval()

    def run(batch):
        tensors = [torch.from_numpy(batch[name]).long() for name in NAMES]
        with torch.no_grad():
            logits = model(
                input_ids=tensors[0],
                attention_mask=tensors[1],
                token_type_ids=tensors[2],
            ).logits
        return [logits.float().softmax(-1).numpy()]

    return run


LOADERS = {
    "saved_model": load_saved_model,
    "litert": load_litert,
    "onnx": load_onnx,
    "openvino": load_openvino,
    "torch": load_torch,
}


def size_of(path):
    """Returns the bytes of the model's own files, without the tokenizer's."""
    path = Path(path)
    names = ("model.tflite", "model.onnx", "model.xml", "model.bin")
    files = [path / name for name in (*names, "model.safetensors")]
    # Of ONNX's, one for each length, one.
    files += sorted(path.glob("*/model.onnx"))[:1]
    found = sum(file.stat().st_size for file in files if file.is_file())
    saved = [path / "saved_model.pb", *path.glob("variables/*")]
    return found + sum(file.stat().st_size for file in saved if file.is_file())


def latency(spec):
    """Times each shape, and counts the right answers to examples once."""
    options = {"precision": spec["precision"]} if spec["precision"] else {}
    run = LOADERS[spec["runtime"]](spec["path"], **options)
    rng = np.random.default_rng(0)
    batches = {
        f"{rows}x{length}": {
            "input_ids": rng.integers(5, 1000, (rows, length), dtype="int32"),
            "input_mask": np.ones((rows, length), "int32"),
            "segment_ids": np.zeros((rows, length), "int32"),
        }
        for rows, length in spec["shapes"]
    }
    notes = {"mib": size_of(spec["path"]) / 2**20}
    if spec["examples"]:
        examples = np.load(spec["examples"])
        right = [
            run({name: examples[name][i : i + 8] for name in NAMES})[0].argmax(
                -1
            )
            == examples["label_ids"][i : i + 8]
            for i in range(0, len(examples["label_ids"]), 8)
        ]
        notes["accuracy"] = float(np.mean(np.concatenate(right)))

    def repeat(num_steps):
        found = {}
        for name, batch in batches.items():
            seconds = []
            # The first one of a shape may compile or reorder.
            for _ in range(num_steps + 1):
                started = time.perf_counter()
                run(batch)
                seconds.append(time.perf_counter() - started)
            found[name] = 1e3 * statistics.median(seconds[1:])
        return notes | found

    return worker.Work(repeat, 1)


def versions():
    """Returns {package: version} of every runtime that is installed."""
    found = {}
    for package in PACKAGES.values():
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


if __name__ == "__main__":
    worker.serve({"latency": latency}, versions)
