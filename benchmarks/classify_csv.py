"""Classifies the texts of a CSV file, like a script of a user of transformers.

    python -m benchmarks.classify_csv LIBRARY VARIANT MODEL INPUT OUTPUT

LIBRARY is transformers or optimum. VARIANT contains words: `sorted` answers the
texts in the order of their lengths, and `bfloat16` computes in this type. MODEL
is a folder, for optimum the path of an ONNX file in the folder. All texts are
in memory, and the answers are in the order of the input.
"""

import csv
import os
import sys
from collections.abc import Callable
from typing import TypeAlias

BATCH_SIZE = 32

# A function that returns (label, score) of each text.
Classify: TypeAlias = Callable[[list[str]], list[tuple[str, float]]]


def load_transformers(folder: str, dtype: str) -> Classify:
    """Returns a function that labels texts with the package's pipeline.

    Args:
        folder: folder of the model.
        dtype: name of the type in which torch computes.
    """
    import torch
    import transformers

    pipeline = transformers.pipeline(
        "text-classification",
        model=folder,
        device="cpu",
        dtype=getattr(torch, dtype),
    )

    def classify(texts: list[str]) -> list[tuple[str, float]]:
        answers = pipeline(texts, batch_size=BATCH_SIZE, truncation=True)
        return [(answer["label"], answer["score"]) for answer in answers]

    return classify


def load_optimum(path: str) -> Classify:
    """Returns a function that labels texts with ONNX Runtime, in batches.

    `path` is the path of an ONNX file in the folder of the model.
    """
    import transformers
    from optimum import onnxruntime

    folder, name = os.path.split(path)
    model = onnxruntime.ORTModelForSequenceClassification.from_pretrained(
        folder, file_name=name
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    labels = model.config.id2label

    def classify(texts: list[str]) -> list[tuple[str, float]]:
        answers: list[tuple[str, float]] = []
        for start in range(0, len(texts), BATCH_SIZE):
            features = tokenizer(
                texts[start : start + BATCH_SIZE],
                padding=True,
                truncation=True,
                return_tensors="pt",
            )
            scores, ids = model(**features).logits.softmax(-1).max(-1)
            names = [labels[label] for label in ids.tolist()]
            answers += zip(names, scores.tolist(), strict=True)
        return answers

    return classify


def main(
    library: str, variant: str, model: str, input_file: str, output_file: str
) -> None:
    """Reads the texts, labels them, and writes the answers."""
    if library == "optimum":
        classify = load_optimum(model)
    else:
        dtype = "bfloat16" if "bfloat16" in variant else "float32"
        classify = load_transformers(model, dtype)
    with open(input_file, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    order = list(range(len(rows)))
    if "sorted" in variant:
        order.sort(key=lambda index: len(rows[index]["text"]))
    answers = classify([rows[index]["text"] for index in order])
    for index, (label, score) in zip(order, answers, strict=True):
        rows[index] |= {"label": label, "score": score}
    with open(output_file, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
