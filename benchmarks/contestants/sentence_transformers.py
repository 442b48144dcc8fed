"""The package sentence-transformers as a contestant.

It computes embeddings with torch, and classifies pairs with ONNX Runtime.
"""

import os

# Without this variable, the older transformers that optimum needs would import
# TensorFlow.
os.environ["USE_TF"] = "0"

import sentence_transformers as library  # noqa: E402
import torch  # noqa: E402

from benchmarks import race  # noqa: E402

PACKAGES = ["sentence-transformers", "transformers", "torch", "onnxruntime"]


def embed(spec):
    """Computes the mean vector of each sentence.

    The package itself sorts the sentences by length.
    """
    model = library.SentenceTransformer(spec["minilm_dir"], device="cpu")
    if spec["variant"] == "bfloat16":
        model = model.to(torch.bfloat16)
    ((texts,),) = race.batches_of_texts(spec)(1)
    return race.Work(lambda _: model.encode(texts), len(texts))


def classify(spec):
    """Classifies pairs with a cross-encoder in ONNX Runtime."""
    model = library.CrossEncoder(
        spec["minilm_dir"], num_labels=2, backend="onnx", device="cpu"
    )
    batches, size = race.batches_of_texts(spec), spec["batch_size"]

    def repeat(num_steps):
        for batch in batches(num_steps):
            model.predict([*zip(*batch, strict=True)], batch_size=size)

    return race.Work(repeat, size)
