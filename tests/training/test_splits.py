"""The records of a task's splits."""

import os

from modeling import BertConfig
from tests.toy_task import ToyTask, create_config
from training.splits import Splits

BERT_CONFIG = BertConfig(vocab_size=100)


class TwoEvalSets(ToyTask):
    splits = {**ToyTask.splits, "eval": ["eval", "eval_hard"]}


def test_what_a_killed_run_left_of_its_records_is_removed(tmp_path):
    for name in ("eval_hard.tf_record.partial-5", "mine.tf_record.partial-5"):
        (tmp_path / name).touch()
    splits = Splits(
        TwoEvalSets(), create_config(tmp_path, do_eval=True), BERT_CONFIG
    )
    assert splits.of("eval") == ["eval", "eval_hard"]
    assert sorted(os.listdir(tmp_path)) == [
        "eval.tf_record",
        "eval_hard.tf_record",
        "mine.tf_record.partial-5",
    ]


def test_a_task_keeps_the_examples_that_it_is_evaluated_on(tmp_path):
    task = TwoEvalSets()
    config = create_config(tmp_path, do_train=True, do_eval=True)
    splits = Splits(task, config, BERT_CONFIG)
    assert [*splits.num_examples] == ["train", "eval", "eval_hard"]
    assert task.examples == dict.fromkeys(["eval", "eval_hard"], range(12))
