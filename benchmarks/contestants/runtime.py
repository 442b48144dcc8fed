"""One exported classifier in its runtime, timed over ids.

The runtimes are those of --export_format, TensorFlow for a SavedModel, and
torch for transformers' own model of the same weights.
"""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks import race
from serving.engines import litert

PACKAGES = ["tensorflow", "ai-edge-litert", "onnxruntime", "openvino"]
PACKAGES += ["torch", "transformers"]
NAMES = ("input_ids", "input_mask", "segment_ids")


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
    engine = litert.LiteRt(Path(path), num_threads=2)
    return lambda batch: [*engine.run(batch).values()]


def load_onnx(path):
    """Returns (batch) -> list of outputs."""
    import onnxruntime

    cpu = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(f"{path}/model.onnx", providers=cpu)
    names = [each.name for each in session.get_inputs()]
    return lambda batch: session.run(
        None, {name: batch[name.partition(":")[0]] for name in names}
    )


def load_openvino(path, precision="float32"):
    """Returns (batch) -> list of outputs."""
    import openvino

    # It calls them f32 and bf16.
    options = {"INFERENCE_PRECISION_HINT": precision.replace("float", "f")}
    compiled = openvino.compile_model(f"{path}/model.xml", "CPU", options)
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
            logits = model(*tensors).logits
        return [logits.float().softmax(-1).numpy()]

    return run


LOADERS = {"saved_model": load_saved_model, "litert": load_litert}
LOADERS |= {"onnx": load_onnx, "openvino": load_openvino, "torch": load_torch}


def export(spec, runtime, precision, more):
    """Exports the model for a runtime; returns the folder.

    ONNX has one length to a file. An export is made once for all rows.
    """
    model_dir, mrpc_dir = spec["model_dir"], spec["mrpc_dir"]
    length = spec["seq_length"]
    name = spec["variant"].replace(" ", "_")
    if runtime == "onnx":
        name += f"_{length}"
        more.append(f"--export_seq_length={length}")
    path = Path(spec["shared"], name)
    if path.exists():
        return path
    if precision == "int8":
        more.append("--quantize=int8")
    elif runtime == "saved_model":
        more.append(f"--mixed_precision={precision}")
    command = [
        *("run_classifier.py", "--task_name=mrpc", f"--data_dir={mrpc_dir}"),
        *(f"--bert_config_file={model_dir}", f"--init_checkpoint={model_dir}"),
        *(f"--vocab_file={model_dir}/vocab.txt", f"--output_dir={path}_run"),
        *(f"--export_dir={path}", f"--export_format={runtime}", *more),
    ]
    if runtime == "torch":
        command = ["-m", "tools.convert_checkpoint", f"--output_dir={path}"]
        command += [f"--init_checkpoint={model_dir}"]
        command += ["--output_format=huggingface", "--model=classifier"]
    command = [sys.executable, *command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return path


def size_of(path):
    """Returns the bytes of the model's own files, without the tokenizer's."""
    names = ("model.tflite", "model.onnx", "model.xml", "model.bin")
    files = [path / name for name in (*names, "model.safetensors")]
    files += [path / "saved_model.pb", *path.glob("variables/*")]
    return sum(file.stat().st_size for file in files if file.is_file())


def accuracy(run, spec):
    """Returns the fraction of MRPC's dev set that is answered right."""
    from data.classification import features, glue
    from data.text import tokenization

    processor = glue.PROCESSORS["mrpc"]()
    tokenizer = tokenization.FullTokenizer(f"{spec['model_dir']}/vocab.txt")
    examples = processor.get_dev_examples(spec["mrpc_dir"])
    labels, length = processor.get_labels(), spec["seq_length"]
    encoded = features.convert_examples_to_features(
        examples, labels, length, tokenizer
    )
    encoded, right = iter(encoded), []
    while rows := list(itertools.islice(encoded, spec["batch_size"])):
        batch = {
            name: np.array([getattr(row, name) for row in rows], "int32")
            for name in NAMES
        }
        answers = run(batch)[0].argmax(-1)
        right += [*(answers == [row.label_id for row in rows])]
    return float(np.mean(right))


def latency(spec):
    """Answers one batch of random ids again and again."""
    form = spec["variant"].removeprefix("student ")
    if form != spec["variant"]:
        spec["model_dir"] = spec["student_dir"]
    runtime, precision, *more = form.split()
    path = export(spec, runtime, precision, more)
    options = [precision] if runtime in ("openvino", "torch") else []
    run = LOADERS[runtime](path, *options)
    batch = race.random_inputs(spec, vocab_size=1000)
    notes = {"MiB": size_of(path) / 2**20}
    if spec["batch_size"] > 1:
        notes["accuracy"] = accuracy(run, spec)

    def repeat(num_steps):
        for _ in range(num_steps):
            run(batch)
        return notes

    return race.Work(repeat, spec["batch_size"])
