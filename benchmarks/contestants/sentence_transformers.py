"""The package sentence-transformers as a contestant.

It computes embeddings with torch, and classifies pairs with ONNX Runtime.
"""

import sentence_transformers as library
import torch

from benchmarks import timing

PACKAGES = ["sentence-transformers", "transformers", "torch", "onnxruntime"]


def embed(workload: timing.Workload) -> timing.Work:
    """Computes the mean vector of each sentence."""
    model = library.SentenceTransformer(workload["minilm_dir"], device="cpu")
    if workload["variant"] == "bfloat16":
        model = model.to(torch.bfloat16)
    return timing.create_mrpc_work(workload, model.encode)


def classify(workload: timing.Workload) -> timing.Work:
    """Classifies pairs with a cross-encoder in ONNX Runtime."""
    model = library.CrossEncoder(
        workload["minilm_dir"], num_labels=2, backend="onnx", device="cpu"
    )
    return timing.create_mrpc_work(
        workload,
        lambda *texts: model.predict(
            [*zip(*texts, strict=True)], batch_size=workload["batch_size"]
        ),
    )
