"""Writes the tables of this folder: pairs, questions, topics and entities.

Joins the hand-written parts in pieces.json at random, always with the same
seed: the files come out the same, byte for byte, each time.

    python examples/samples/make_tables.py [FOLDER, by default its own]
"""

import csv
import io
import itertools
import json
import random
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 20
PAIRS = {"train": 900, "dev": 120, "test": 60}
PASSAGES = {"train": 100, "dev": 18}
QUESTIONS = {"train": 6, "dev": 4}
SENTENCES = 4
TOPICS = {"train": 300, "dev": 60, "test": 60}
# The slots that are entities.
TAGS = {"town": "PLACE", "name": "NAME", "day": "DATE", "year": "DATE"}
ENTITIES = {"train": 300, "dev": 60, "test": 30}


def fill(text, values):
    """Returns `text` with its slots filled, its first letter a capital."""
    text = text.format(**values)
    return text[:1].upper() + text[1:]


def draw_values(slots, rng):
    """Returns one value for each slot."""
    return {slot: rng.choice(words) for slot, words in slots.items()}


def create_pair(pieces, is_paraphrase, rng):
    """Returns two sentences that say the same, or that do not.

    Those that do not are opposites, or about different things.
    """
    frame, other = rng.sample(pieces["pairs"], 2)
    values = draw_values(pieces["slots"], rng)
    sentences = rng.sample(frame["same"], 2)
    if not is_paraphrase:
        sentences[1] = rng.choice(
            rng.choice([frame["opposite"], other["same"]])
        )
        rng.shuffle(sentences)
    return [fill(sentence, values) for sentence in sentences]


def create_pair_tables(pieces, rng):
    """Returns file name -> text, in the layout of MRPC, no pair twice."""
    tables, seen, ids = {}, set(), itertools.count(1001)
    for split, size in PAIRS.items():
        label_name = "index" if split == "test" else "Quality"
        rows = [[label_name, "#1 ID", "#2 ID", "#1 String", "#2 String"]]
        labels = [index % 2 for index in range(size)]
        rng.shuffle(labels)
        while len(rows) <= size:
            index = len(rows) - 1
            pair = create_pair(pieces, labels[index] == 1, rng)
            if frozenset(pair) in seen:
                continue
            seen.add(frozenset(pair))
            key = index if split == "test" else labels[index]
            rows.append([str(key), str(next(ids)), str(next(ids)), *pair])
        tables[f"{split}.tsv"] = "".join("\t".join(row) + "\n" for row in rows)
    return tables


def create_answers(context, sentence, answer, split):
    """Returns the answer with its offset, in dev also its shorter form."""
    start = context.index(sentence) + sentence.index(answer)
    answers = [{"answer_start": start, "text": answer}]
    head, _, rest = answer.partition(" ")
    if split == "dev" and head in ("a", "an", "the"):
        start += len(head) + 1
        answers.append({"answer_start": start, "text": rest})
    return answers


def create_passage(kind, name, slots, split, ids, rng):
    """Returns a paragraph for SQuAD 1.1 and the same one for 2.0.

    Some facts of its kind are left out. In 1.1 some of the others are asked
    for in two ways; in 2.0 each fact is asked for once.
    """
    values = {**draw_values(slots, rng), "name": name}
    facts = kind["facts"]
    chosen = [0, *rng.sample(range(1, len(facts)), SENTENCES - 1)]
    sentences = {i: fill(rng.choice(facts[i]["says"]), values) for i in chosen}
    context = " ".join(sentences.values())
    asked, again = [], []
    for index, fact in enumerate(facts):
        answers = []
        if index in sentences:
            answer = values[fact["answer"]]
            answers = create_answers(context, sentences[index], answer, split)
        for group, ask in zip(
            (asked, again), rng.sample(fact["asks"], 2), strict=True
        ):
            qa = {
                "id": f"{split}-{next(ids):04}",
                "question": fill(ask, values),
                "answers": answers,
            }
            group.append(qa)
    possible = [qa for qa in asked + again if qa["answers"]]
    version_1 = possible[: QUESTIONS[split]]
    version_2 = [{**qa, "is_impossible": not qa["answers"]} for qa in asked]
    return tuple(
        {"context": context, "qas": qas} for qas in (version_1, version_2)
    )


def create_squad_tables(pieces, rng):
    """Returns file name -> text, in the layouts of SQuAD 1.1 and 2.0."""
    slots = pieces["slots"]
    names = [
        f"{first} {second}"
        for first in slots["first"]
        for second in slots["second"]
    ]
    rng.shuffle(names)
    tables = {}
    for split, size in PASSAGES.items():
        ids = itertools.count(1)
        versions = {"v1.1": {}, "v2.0": {}}
        for index in range(size):
            kind = pieces["passages"][index % len(pieces["passages"])]
            made = create_passage(kind, names.pop(), slots, split, ids, rng)
            for articles, paragraph in zip(
                versions.values(), made, strict=True
            ):
                articles.setdefault(kind["title"], []).append(paragraph)
        for version, articles in versions.items():
            data = [
                {"title": title, "paragraphs": paragraphs}
                for title, paragraphs in articles.items()
            ]
            suffix = "" if version == "v1.1" else "-v2"
            tables[f"{split}{suffix}.json"] = json.dumps(
                {"version": version, "data": data}, ensure_ascii=False
            )
    return tables


def draw_facts(pieces, rng):
    """Returns a kind's title, two of its sentences, and their values."""
    # The first kinds are the most frequent, so the labels are unbalanced.
    kinds = pieces["passages"]
    kind = rng.choices(kinds, weights=range(len(kinds), 0, -1))[0]
    slots = pieces["slots"]
    name = f"{rng.choice(slots['first'])} {rng.choice(slots['second'])}"
    values = {**draw_values(slots, rng), "name": name}
    chosen = [kind["facts"][0], rng.choice(kind["facts"][1:])]
    return kind["title"], [rng.choice(fact["says"]) for fact in chosen], values


def create_topic_tables(pieces, rng):
    """Returns file name -> a CSV table of texts and their topics."""
    tables, seen = {}, set()
    for split, size in TOPICS.items():
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["text", "label"])
        before = len(seen)
        while len(seen) < before + size:
            title, sentences, values = draw_facts(pieces, rng)
            text = " ".join(fill(sentence, values) for sentence in sentences)
            if text not in seen:
                seen.add(text)
                writer.writerow([text, title.lower()])
        tables[f"{split}.csv"] = file.getvalue()
    return tables


def tag_sentence(template, values):
    """Returns (word, tag) of each word of a filled sentence."""
    rows = []
    for part in re.split(r"({\w+})", template):
        slot = part.strip("{}") if part.startswith("{") else None
        words = re.findall(r"\w+|[^\w\s]", values[slot] if slot else part)
        for index, word in enumerate(words):
            place = "B" if index == 0 else "I"
            tag = f"{place}-{TAGS[slot]}" if slot in TAGS else "O"
            rows.append((word, tag))
    return rows


def create_entity_tables(pieces, rng):
    """Returns file name -> words and tags, in the layout of CoNLL-2003."""
    tables = {}
    for split, size in ENTITIES.items():
        sentences = []
        for _ in range(size):
            _, templates, values = draw_facts(pieces, rng)
            template = rng.choices(templates, weights=[1, 2])[0]
            rows = tag_sentence(template, values)
            sentences.append("".join(f"{word} {tag}\n" for word, tag in rows))
        tables[f"{split}.txt"] = "\n".join(sentences)
    return tables


def main(folder):
    """Writes all tables under `folder`/glue and `folder`/squad."""
    pieces = json.loads((HERE / "pieces.json").read_text(encoding="utf-8"))
    rng = random.Random(SEED)
    made = {
        "glue": create_pair_tables(pieces, rng),
        "squad": create_squad_tables(pieces, rng),
        "topics": create_topic_tables(pieces, rng),
        "entities": create_entity_tables(pieces, rng),
    }
    for task, tables in made.items():
        (folder / task).mkdir(parents=True, exist_ok=True)
        for name, text in tables.items():
            (folder / task / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
