"""Which records pretraining reads, and which of its flags they need."""

import dataclasses

import pytest

from data.pretraining.dynamic_masking import DynamicMasking
from tests.support import models, pretraining_records
from tests.support.tasks import toy_task
from training.config.pretraining_config import PretrainingConfig
from training.pretraining.records import open_records


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of the records masked-* and unmasked-*."""
    folder = tmp_path_factory.mktemp("records")
    return pretraining_records.create_masked_and_unmasked(folder, num_shards=2)


@pytest.fixture
def create_starting_point(folder):
    """A function that returns the start of a pretraining with flags."""

    def create(input_file, tokenizer=None, **options):
        config = PretrainingConfig.from_values(
            input_file=str(folder / input_file),
            output_dir="run",
            max_seq_length=32,
            max_predictions_per_seq=5,
            do_train=True,
            **options,
        )
        return toy_task.create_starting_point(
            config,
            models.tiny_config(vocab_size=1600),
            tokenizer,
            set_by_user=options,
        )

    return create


def names_of(records):
    """Returns the names of the files of Records."""
    return [path.rpartition("/")[2] for path in records.files]


MASKED = ["masked-00000-of-00002", "masked-00001-of-00002"]


def test_one_pattern_names_the_records_to_train_and_to_evaluate_on(
    create_starting_point,
):
    records = open_records(create_starting_point("masked-*"))
    assert names_of(records.train) == MASKED
    assert records.dev == records.train
    assert records.train.dynamic_masking is None


def test_other_records_may_be_evaluated_on(create_starting_point, folder):
    starting_point = create_starting_point(
        "masked-*", eval_input_file=str(folder / "masked-00001-*")
    )
    records = open_records(starting_point)
    assert names_of(records.train) == MASKED
    assert names_of(records.dev) == MASKED[1:]


def test_records_without_masks_are_masked_with_the_vocabulary(
    create_starting_point,
):
    starting_point = create_starting_point(
        "unmasked-*", toy_task.load_tokenizer()
    )
    masking = open_records(starting_point).train.dynamic_masking
    assert isinstance(masking, DynamicMasking)


def test_records_without_masks_need_the_vocabulary(create_starting_point):
    with pytest.raises(ValueError, match="Set --vocab_file"):
        open_records(create_starting_point("unmasked-*"))


def test_a_flag_of_masking_is_not_for_masked_records(create_starting_point):
    starting_point = create_starting_point("masked-*", do_whole_word_mask=True)
    with pytest.raises(ValueError, match="--do_whole_word_mask is only for"):
        open_records(starting_point)


def test_ids_beyond_the_vocabulary_of_the_model_are_refused(
    create_starting_point,
):
    starting_point = dataclasses.replace(
        create_starting_point("masked-*"),
        bert_config=models.tiny_config(vocab_size=9),
    )
    with pytest.raises(ValueError, match="is not from 0 to 8"):
        open_records(starting_point)
