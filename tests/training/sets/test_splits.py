"""The records of a task's splits.

task.py defines a split.
"""

from modeling import BertConfig
from tests.support.toy_task import (
    ToyTask,
    create_config,
    create_start,
    load_tokenizer,
)
from training.sets.splits import dev_set_checksum, write_splits

BERT_CONFIG = BertConfig(vocab_size=100)


def test_a_dev_set_is_identified_by_all_that_its_figures_come_from(tmp_path):
    def describe(folder="a", **changes):
        config = create_config(tmp_path / folder, do_eval=True)
        start = create_start(config, BERT_CONFIG, load_tokenizer())
        task = ToyTask(start)
        for name, value in changes.items():
            setattr(task, name, value)
        splits = write_splits(task, tmp_path / folder / "state")
        return dev_set_checksum(task, splits)

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    answers = tmp_path / "dev.json"
    answers.write_text("{}")
    description = describe(eval_files=[str(answers)])
    assert describe("b", eval_files=[str(answers)]) == description
    # Such as SQuAD's, where padding is left out.
    backwards = {"read_examples": lambda split_name: range(12)[::-1]}
    assert describe(eval_files=[str(answers)], **backwards) == description
    for changes in (
        {"eval_files": [str(answers)], "label": lambda number: number < 6},
        {"eval_files": [str(answers)], "labels": ["1", "0"]},
        {},
    ):
        assert describe(**changes) != description, changes
    answers.write_text("[]")
    other = describe(eval_files=[str(answers)])
    assert other != description
