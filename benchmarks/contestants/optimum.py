"""The package optimum as a contestant: ONNX Runtime in float32 or int8."""

import os
import sys

import torch
import transformers
from optimum import onnxruntime

from benchmarks import tickets, timing

PACKAGES = ["optimum-onnx", "transformers", "onnxruntime"]


def export_model(workload: timing.Workload) -> tuple[str, str]:
    """Exports MiniLM with a random head, and returns (folder, file name)."""
    folder = os.path.join(workload["folder"], "onnx")
    source = workload["minilm_dir"]
    torch_model = transformers.AutoModelForSequenceClassification
    torch_model.from_pretrained(source, num_labels=2).save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        source, model_max_length=workload["seq_length"]
    )
    tokenizer.save_pretrained(folder)
    model = onnxruntime.ORTModelForSequenceClassification.from_pretrained(
        folder, export=True
    )
    model.save_pretrained(folder)
    if workload["precision"] != "int8":
        return folder, "model.onnx"
    quantization = onnxruntime.configuration.AutoQuantizationConfig.avx512_vnni(
        is_static=False, per_channel=False
    )
    quantizer = onnxruntime.ORTQuantizer.from_pretrained(folder)
    quantizer.quantize(quantization, save_dir=folder)
    return folder, "model_quantized.onnx"


def classify(workload: timing.Workload) -> timing.Work:
    """Classifies texts. Each batch is padded to its longest text."""
    folder, name = export_model(workload)
    model = onnxruntime.ORTModelForSequenceClassification.from_pretrained(
        folder, file_name=name
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def classify_batch(*texts: list[str]) -> None:
        features = tokenizer(
            *texts, padding=True, truncation=True, return_tensors="pt"
        )
        with torch.no_grad():
            model(**features).logits.softmax(-1).tolist()

    return timing.create_mrpc_work(workload, classify_batch)


def bulk(workload: timing.Workload) -> timing.Work:
    """Runs a script that classifies the texts of a file in batches."""
    model = os.path.join(*export_model(workload))
    command = [sys.executable, "-m", "benchmarks.classify_csv", "optimum"]
    command += [workload["variant"], model]
    return tickets.create_tickets_work(
        workload, lambda path, _, output: [*command, path, output]
    )
