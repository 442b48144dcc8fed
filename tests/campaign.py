"""The campaign's sizes, and the data that its commands read.

test_campaign_kills.py kills runs at random moments; test_campaign_inputs.py
draws bad inputs. Sizes come from the environment: BERT_CAMPAIGN_KILLS, kills of
each runner; BERT_CAMPAIGN_INPUTS, bad inputs in all; BERT_CAMPAIGN_SEED. Each
test prints a line of its figures.
"""

import json
import os

from tests import script_runner
from tests.data.squad import test_triviaqa
from tests.scripts import test_run_glue, test_run_ner, test_run_swag

NUM_KILLS = int(os.environ.get("BERT_CAMPAIGN_KILLS", "10"))
NUM_INPUTS = int(os.environ.get("BERT_CAMPAIGN_INPUTS", "400"))
SEED = int(os.environ.get("BERT_CAMPAIGN_SEED", "0"))


def create_data(tmp_path_factory):
    """Returns a folder with a data set for each task, and a larger corpus."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("csv", "jsonl", "ner", "swag", "swag-rows", "trivia/qa"):
        (folder / name).mkdir(parents=True)
    for name in ("RTE", "STS-B"):
        test_run_glue.write_task(folder / "glue", name)
    for name, count in (("train", 48), ("valid", 9), ("test", 5)):
        test_run_ner.write_set(folder / "ner" / f"{name}.txt", count)
    for name, count in (("train", 48), ("val", 10), ("test", 5)):
        test_run_swag.write_set(folder / "swag" / f"{name}.csv", count)
    rows = [
        {"text": f"the {colour} one", "label": colour}
        for colour in ["red", "blue"] * 20
    ]
    lines = [f"{row['text']},{row['label']}" for row in rows]
    (folder / "csv/train.csv").write_text("\n".join(["text,label", *lines]))
    text = "\n".join(map(json.dumps, rows))
    (folder / "jsonl/train.jsonl").write_text(text)
    row = {"sent1": "a", "sent2": "b", "label": 2}
    row |= {f"ending{i}": "c" for i in range(4)}
    text = "\n".join([json.dumps(row)] * 40)
    (folder / "swag-rows/train.jsonl").write_text(text)
    corpus = (script_runner.SAMPLES / "corpus.txt").read_text(encoding="utf-8")
    (folder / "corpus.txt").write_text("\n\n".join([corpus] * 20))
    (folder / "trivia/wikipedia").mkdir()
    (folder / "trivia/wikipedia/Rock.txt").write_text(test_triviaqa.LIGHT)
    asked = test_triviaqa.answer("Anna Holm")
    test_triviaqa.save(
        folder / "trivia", test_triviaqa.question(1, asked, ["Rock.txt"])
    )
    return folder
