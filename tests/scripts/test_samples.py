"""The sample data is what its README says and what the demo needs."""

import collections
import csv
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import serving
from data.text import tokenization
from tests.golden import ROOT

SAMPLES = ROOT / "examples/samples"
TABLES = {"glue/train.tsv": 900, "glue/dev.tsv": 120, "glue/test.tsv": 60}
# Passages, questions, questions without an answer.
QUESTIONS = {
    "squad/train.json": (100, 600, 0),
    "squad/dev.json": (18, 72, 0),
    "squad/train-v2.json": (100, 600, 200),
    "squad/dev-v2.json": (18, 108, 36),
}

# Texts of the page and the README.
EXAMPLES = {
    "text": "[MASK] light of the harbour can be seen when the air is clear "
    "[MASK]",
    "text_a": "The market in Ostrel is held on Sunday.",
    "text_b": "Sunday is market day in Ostrel.",
    "question": "What does the Old Lamp catch?",
    "context": "The Old Lamp is a small boat from Ivelle. She is used to catch "
    "eels. Her owner is a retired teacher.",
}


@pytest.fixture(scope="module")
def documents():
    text = (SAMPLES / "corpus.txt").read_text(encoding="utf-8")
    return [part.splitlines() for part in text.strip().split("\n\n")]


def read_table(name):
    with open(SAMPLES / name, encoding="utf-8", newline="") as reader:
        return list(csv.reader(reader, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_paragraphs(name):
    content = json.loads((SAMPLES / name).read_text(encoding="utf-8"))
    assert content["version"] == ("v2.0" if "-v2" in name else "v1.1")
    return [p for article in content["data"] for p in article["paragraphs"]]


def test_corpus_has_one_sentence_a_line_and_no_sentence_twice(documents):
    assert len(documents) == 57
    assert {len(document) for document in documents} <= set(range(8, 21))
    lines = [line for document in documents for line in document]
    assert len(set(lines)) == len(lines)
    assert all(line == line.strip() and len(line) > 10 for line in lines)


def test_vocabulary_covers_every_text(documents):
    tokenizer = tokenization.FullTokenizer(SAMPLES / "vocab.txt")
    config = json.loads((SAMPLES / "bert_config.json").read_text())
    tokenizer.check_vocab(config["vocab_size"])
    assert len(tokenizer.tokens) == config["vocab_size"]
    assert tokenizer.tokens[0] == "[PAD]"
    texts = [line for document in documents for line in document]
    for name in TABLES:
        texts += [text for row in read_table(name)[1:] for text in row[3:]]
    for paragraph in (p for name in QUESTIONS for p in read_paragraphs(name)):
        texts += [paragraph["context"]]
        texts += [qa["question"] for qa in paragraph["qas"]]
    counts = collections.Counter(
        token for text in texts for token in tokenizer.tokenize(text)
    )
    assert counts["[UNK]"] < 0.001 * counts.total()
    # Mostly whole words, so that a short sequence holds a passage.
    pieces = sum(n for token, n in counts.items() if token.startswith("##"))
    assert pieces < 0.1 * counts.total()


def test_pairs_have_the_columns_of_mrpc_and_no_pair_twice():
    found = []
    for name, size in TABLES.items():
        header, *rows = read_table(name)
        first = "index" if "test" in name else "Quality"
        assert header == [first, "#1 ID", "#2 ID", "#1 String", "#2 String"]
        assert {len(row) for row in rows} == {5} and len(rows) == size
        keys = [row[0] for row in rows]
        if "test" in name:
            assert keys == [str(index) for index in range(size)]
        else:
            assert collections.Counter(keys) == {"0": size / 2, "1": size / 2}
        found += rows
    assert len({cell for row in found for cell in row[1:3]}) == 2 * len(found)
    assert len({frozenset(row[3:]) for row in found}) == len(found)


def test_answers_are_whole_words_where_the_file_says():
    for name, sizes in QUESTIONS.items():
        paragraphs = read_paragraphs(name)
        questions = [(p["context"], qa) for p in paragraphs for qa in p["qas"]]
        impossible = [qa for _, qa in questions if qa.get("is_impossible")]
        assert sizes == (len(paragraphs), len(questions), len(impossible))
        assert len({qa["id"] for _, qa in questions}) == len(questions)
        for context, qa in questions:
            assert ("is_impossible" in qa) == ("-v2" in name)
            assert bool(qa["answers"]) != qa.get("is_impossible", False)
            # Training takes one answer; scoring takes the best of several.
            assert "train" not in name or len(qa["answers"]) <= 1
            for answer in qa["answers"]:
                start = answer["answer_start"]
                end = start + len(answer["text"])
                assert context[start:end] == answer["text"]
                assert context[start - 1] == " " and context[end] in " ."
    train, dev = (
        {paragraph["context"] for paragraph in read_paragraphs(name)}
        for name in ("squad/train.json", "squad/dev.json")
    )
    assert not train & dev


@pytest.fixture(scope="module")
def demo():
    return runpy.run_path(ROOT / "examples/demo.py")


def test_the_demo_finds_its_files_from_any_folder(tmp_path, monkeypatch, demo):
    monkeypatch.chdir(tmp_path)
    # It is stopped before its first minute of work.
    main = demo["main"]
    monkeypatch.setitem(main.__globals__, "begin_folder", lambda: sys.exit(7))
    with pytest.raises(SystemExit, match="7"):
        main()
    assert (demo["SAMPLES"] / "corpus.txt").is_file()


def test_the_demos_exports_take_text(demo):
    for name in ("PRETRAIN", "CLASSIFY", "ANSWER", "EXTRACT"):
        flags = {flag.partition("=")[0] for flag in demo[name]}
        assert {"--export_dir", "--vocab_file"} < flags, name


def test_the_demo_evaluates_held_out_documents_and_draws_them(tmp_path, demo):
    made = {demo["VOCAB"]: SAMPLES / "vocab.txt", demo["OUTPUT"]: tmp_path}
    command = " ".join(demo["CREATE_DATA"])
    for before, after in made.items():
        command = command.replace(str(before), str(after))
    command = [sys.executable, *command.split()]
    subprocess.run(command, cwd=ROOT, check=True)
    given = dict(one.partition("=")[::2] for one in demo["PRETRAIN"])
    for name in ("--input_file", "--eval_input_file"):
        path = Path(given[name])
        assert path.parent == demo["OUTPUT"]
        assert [*tmp_path.glob(path.name)], name
    steps, between = given["--num_train_steps"], given["--eval_steps"]
    assert int(steps) // int(between) > 3
    assert f"--png={demo['OUTPUT']}/curves.png" in demo["PLOT"]


@pytest.mark.slow
def test_the_demo_shows_the_curve_that_it_made(tmp_path):
    # In a copy, since it writes beside its own files.
    folder = tmp_path / "project"
    folder.mkdir()
    for path in ROOT.glob("*.py"):
        shutil.copy(path, folder)
    names = "data examples files modeling serving tools training"
    for name in names.split():
        shutil.copytree(ROOT / name, folder / name)
    done = subprocess.run(
        [sys.executable, folder / "examples/demo.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = folder / "output/demo"
    results = (made / "pretraining/eval_results.txt").read_text()
    accuracy = re.search(r"^masked_lm_accuracy = (.*)$", results, re.M)[1]
    (curve,) = re.findall(r"after steps (200: 0\..*)", done.stdout)
    points = dict(point.split(": ") for point in curve.split(", "))
    assert list(points) == ["200", "400", "600", "800", "1000"]
    assert points["1000"] == f"{float(accuracy):.3f}"
    assert (made / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert re.search(r"\n    -> \S", done.stdout)
    # What the page asks at first is what these models answer.
    page = (ROOT / "serving/server/page/page.js").read_text()
    for text in EXAMPLES.values():
        assert all(part in page for part in re.split(r"(?<=\.) ", text))
    asked = serving.load(made / "squad_model").answer(
        EXAMPLES["question"], EXAMPLES["context"]
    )
    assert asked["answer"] == "eels" and asked["probability"] > 0.5
    pair = EXAMPLES["text_a"], EXAMPLES["text_b"]
    found = serving.load(made / "classifier_model").classify(*pair)
    assert found["label"] == "1" and found["probabilities"]["1"] > 0.7
    model = serving.load(made / "pretrained_model")
    masks = model.fill_mask(EXAMPLES["text"])["masks"]
    assert [words[0]["token"] for words in masks] == ["the", "."]


def test_examples_are_spelled_as_the_samples_are():
    """Another spelling, such as "harbor", is cut into letters."""
    tokenizer = tokenization.FullTokenizer(str(SAMPLES / "vocab.txt"))
    for text in EXAMPLES.values():
        words = re.findall(r"\w+", text.replace("[MASK]", ""))
        pieces = sum(len(tokenizer.tokenize(word)) for word in words)
        assert pieces <= 2 * len(words), text
    for path in ("README.md", "docs/serving.md", "docs/serving.ipynb"):
        text = (ROOT / path).read_text()
        assert "harbor" not in text, path
        assert EXAMPLES["question"] in text, path
    page = (ROOT / "serving/server/page/page.js").read_text()
    assert "harbor" not in page.replace("harbour", "")
