"""Writes the files that the commands read."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.models import TINY
from tests.support.tables import csv_files
from tests.support.tasks import task_files

TEXTS = [
    "the river is red",
    "A Blue boat on the water!",
    "\u00c9t\u00e9 \u00e0 Marr\u00e9, na\u00efve \u4e2d\u6587 caf\u00e9.",
    "the boat and the sea at noon in the harbor of the river " * 6 + "blue",
    "\u200bzero\u00a0width \ufb01sh \U0001f600 e\u0301",
    "[MASK] [SEP] the boat",
    "unbelievablylongwordthatnobodyknows" * 4,
    "",
    " .",
]
PASSAGES = [
    "The Old Lamp is a small boat that belongs to Marr\u00e9. Her crew is made "
    "up of five people. Both of her sides are brown.",
    "The light of the harbor is kept by Anna. " * 12,
]


def write_inputs(folder: Path, samples: Path) -> None:
    """Writes the files that the commands read, from a checkout's samples."""
    shutil.copytree(samples, folder / "samples")
    # Large weights, so that answers differ and every part of the model counts.
    config = TINY | {"initializer_range": 0.2}
    (folder / "bert_config.json").write_text(json.dumps(config))
    one_block = config | {"num_hidden_layers": 1}
    (folder / "one_block.json").write_text(json.dumps(one_block))
    task_files.write_regression(folder / "regression")
    task_files.write_mnli(folder / "mnli")
    task_files.write_table(folder / "multilabel")
    task_files.write_long_texts(folder / "long_texts")
    for name in ("entities", "swag"):
        (folder / name).mkdir()
    task_files.write_entity_sets(folder / "entities")
    task_files.write_swag_sets(folder / "swag")
    texts = ["the river", "a boat sails", "the sky is blue", "an old lamp"]
    rows = [
        (text_a, text_b, int(text_a == text_b))
        for text_a in texts
        for text_b in texts
    ]
    tables: dict[str, tuple[list[str], Sequence[Sequence[object]]]] = {
        "ranking": (["query", "passage", "relevance"], rows),
        "pairs": (
            ["text", "text_b"],
            [(text, f"{text} now") for text in texts],
        ),
        "scored_pairs": (["text", "text_b", "score"], rows),
    }
    for kind, (header, cells) in tables.items():
        for name in ("train", "dev", "test"):
            path = folder / kind / f"{name}.csv"
            csv_files.write_csv(path, header, cells, task_files.EXCEL)
    _write_labeled_texts(folder)
    (folder / "domain.txt").write_text(
        "The trabeculectomy lowers the pressure.\n"
        "After trabeculectomy a phacoemulsification may follow.\n\n" * 20
    )
    (folder / "lines.txt").write_text(
        "The river is red\nA boat ||| the water\n\nMarr\u00e9\n", "utf-8"
    )
    _write_requests(folder / "requests")


def _write_labeled_texts(folder: Path) -> None:
    """Writes sentences of the samples as JSON, with their entities."""
    text = (folder / "samples/entities/train.txt").read_text("utf-8")
    lines = []
    for number, sentence in enumerate(text.strip().split("\n\n")[:80]):
        position = 0
        entities: list[tuple[int, int, str]] = []
        words: list[str] = []
        for line in sentence.split("\n"):
            word, tag = line.split()[0], line.split()[-1]
            end = position + len(word)
            if tag.startswith("I-") and entities:
                begin, _, entity_type = entities[-1]
                entities[-1] = (begin, end, entity_type)
            elif tag != "O":
                entities.append((position, end, tag[2:]))
            words.append(word)
            position = end + 1
        row = {"id": number, "text": " ".join(words), "label": entities}
        lines.append(json.dumps(row) + "\n")
    (folder / "entities.jsonl").write_text("".join(lines))


def _write_requests(folder: Path) -> None:
    """Writes a file of requests for each task of each model."""
    folder.mkdir()
    pairs = zip(TEXTS, [*TEXTS[1:], TEXTS[0]], strict=True)
    questions = ["Who keeps the light?", "How many people?", TEXTS[2]]
    requests: dict[str, list[Any]] = {
        "texts": [{"text": text, "id": i} for i, text in enumerate(TEXTS)],
        "pairs": [
            {"text_a": text_a, "text_b": text_b} for text_a, text_b in pairs
        ],
        "masks": [
            {"text": "The [MASK] is blue."},
            {"text": f"{TEXTS[3]} [MASK]"},
            {"text": "[MASK] [MASK] and the sea"},
        ],
        "passages": [
            {
                "query": "the boat",
                "passages": [text for text in TEXTS if text.strip()],
            },
            {"query": "the boat", "passages": PASSAGES},
        ],
        "questions": [
            {"question": question, "context": context}
            for question in questions
            for context in PASSAGES
        ],
        "wrong": [{"text_a": "one"}, {"text": 3}, [], {"text_b": "two"}, {}],
    }
    paths = {
        "mrpc/classify": [*requests["pairs"], *requests["wrong"]],
        "squad/answer": requests["questions"],
        "names/tag": requests["texts"],
        "vectors/embed": requests["texts"],
        "words/fill-mask": requests["masks"],
        "ranking/rerank": requests["passages"],
        "mrpc/tokenize": requests["texts"],
        "no/classify": requests["texts"][:1],
        "mrpc/answer": requests["texts"][:1],
    }
    first = [{"path": path} for path in ("/healthz", "/api/models")]
    last = {
        "path": "/v1/models/mrpc:predict",
        "body": {"instances": requests["pairs"][:2]},
    }
    asked = [
        {"path": f"/api/models/{path}", "body": body}
        for path, bodies in paths.items()
        for body in bodies
    ]
    requests["server"] = [*first, {"path": "/openapi.json"}, *asked, last]
    for name, rows in requests.items():
        lines = [json.dumps(row) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines))
