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
from serving import engines

PACKAGES = ["tensorflow", "ai-edge-litert", "onnxruntime", "openvino"]
PACKAGES += ["torch", "transformers"]
NAMES = ("input_ids", "input_mask", "segment_ids")


def load(runtime, path, precision):
    """Returns (batch) -> list of outputs, by an engine of this project."""
    if runtime == "torch":
        return load_torch(path, precision)
    if runtime == "openvino":
        from serving.engines.openvino import OpenVino

        engine = OpenVino(path, 2, precision)
    else:
        # TensorFlow's threads are set by the race.
        num_threads = None if runtime == "saved_model" else 2
        engine = engines.open_engine(path, runtime, num_threads)
    return lambda batch: [*engine.run(batch).values()]


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


def export(spec, runtime, precision, more):
    """Exports the model for a runtime, once for all rows; returns where."""
    model_dir, mrpc_dir = spec["model_dir"], spec["mrpc_dir"]
    path = Path(spec["shared"], spec["variant"].replace(" ", "_"))
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
    names = (*engines.FILES, "model.bin", "model.safetensors")
    files = [*(path / name for name in names), *path.glob("variables/*")]
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
    run = load(runtime, path, precision)
    batch = race.random_inputs(spec, vocab_size=1000)
    notes = {"MiB": size_of(path) / 2**20}
    if spec["batch_size"] > 1:
        notes["accuracy"] = accuracy(run, spec)

    def repeat(num_steps):
        for _ in range(num_steps):
            run(batch)
        return notes

    return race.Work(repeat, spec["batch_size"])
