"""Files that every script must refuse: damaged, or of something else."""

import json
import os

import tensorflow as tf

from data.io import records
from modeling.checkpoints import tf1
from tests.script_runner import SAMPLES

# The casing follows from the names of released folders.
UNCASED, CASED = "uncased_L-12_H-768_A-12", "cased_L-12_H-768_A-12"


def write_bad_files(folder, tiny):
    """Writes files that are wrong in all kinds of ways.

    Args:
        folder: where to.
        tiny: the folder of the fixture of that name.
    """
    (folder / "empty").write_bytes(b"")
    config = json.loads((tiny / "bert_config.json").read_text())
    for name, change in {
        "wide": {"hidden_size": 64},
        "more_words": {"vocab_size": 1601},
        "fewer_words": {"vocab_size": 100},
        "odd_heads": {"num_attention_heads": 3},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(config | change))

    vocab = (SAMPLES / "vocab.txt").read_text(encoding="utf-8")
    (folder / "no_mask.txt").write_text(vocab.replace("[MASK]", "[NONE]"))
    (folder / "twice.txt").write_text(vocab.replace("[unused3]", "[unused2]"))

    whole = (tiny / "train.tfrecord").read_bytes()
    (folder / "cut.tfrecord").write_bytes(whole[:100])
    (folder / "text.tfrecord").write_text("Not a record, but a line.\n" * 9)
    # Sound at its front, where it is looked into before the work.
    size = len(whole) // 2
    changed = whole[:size] + bytes([whole[size] ^ 1]) + whole[size + 1 :]
    (folder / "changed.tfrecord").write_bytes(changed)
    squad = records.encode_example({"unique_ids": [1]})
    (folder / "other.tfrecord").write_bytes(records.frame(squad))

    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    for name, rows in {
        "columns": "1\t2\t3\tOne text.\n",
        "label": "1\t2\t3\tA text.\tA text.\nyes\t2\t3\tA text.\tA text.\n",
        "few": "1\t2\t3\tA text.\tA text.\n",
        "none": "",
    }.items():
        (folder / name).mkdir()
        (folder / name / "train.tsv").write_text(header + rows)

    (folder / "not.json").write_text("{'data': 1}")
    (folder / "list.json").write_text("[1]")
    qa = {"id": "q", "question": "Who?", "answers": []}
    article = {"paragraphs": [{"context": "It was Ann.", "qas": [qa]}]}
    (folder / "v2.json").write_text(json.dumps({"data": [article]}))

    for name in (CASED, UNCASED):
        variables = {"global_step": tf.Variable(0)}
        save = tf1.write_checkpoint
        save(folder / name / "bert_model.ckpt", variables)
    save(folder / "cut.ckpt", variables)
    os.truncate(folder / "cut.ckpt.data-00000-of-00001", 1)
