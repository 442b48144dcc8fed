"""Records of pretraining instances."""

import tensorflow as tf

from data.pretraining.instances import TrainingInstance
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.record_writing import InstanceEncoder, encode_instance
from tests.support.scripted_draws import NAMES, VOCABULARY, encode_text


def masked_instance():
    """Returns "[CLS] [MASK] [SEP] dog [SEP]", whose mask was "cat"."""
    return TrainingInstance(
        tokens=encode_text("[CLS] [MASK] [SEP] dog [SEP]"),
        b_start=3,
        is_random_next=True,
        positions=[1],
        labels=encode_text("cat"),
    )


def short_options(**changes):
    """Returns options for instances of 7 WordPieces, of which 2 are masked."""
    defaults = {
        "vocab_file": "",
        "max_seq_length": 7,
        "max_predictions_per_seq": 2,
    }
    return InstanceOptions(**defaults | changes)


def decode_record(record):
    """Returns {name: values} of a record, as TensorFlow reads it."""
    features = tf.train.Example.FromString(record).features.feature
    return {
        name: [*getattr(feature, feature.WhichOneof("kind")).value]
        for name, feature in features.items()
    }


def ids_of(text):
    return [NAMES.index(name) for name in text.split()]


def test_encode_instance_pads_all_features_with_zeros():
    record = encode_instance(masked_instance(), short_options())
    assert decode_record(record) == {
        "input_ids": [*ids_of("[CLS] [MASK] [SEP] dog [SEP]"), 0, 0],
        "input_mask": [1, 1, 1, 1, 1, 0, 0],
        "segment_ids": [0, 0, 0, 1, 1, 0, 0],
        "masked_lm_positions": [1, 0],
        "masked_lm_ids": [*ids_of("cat"), 0],
        "masked_lm_weights": [1.0, 0.0],
        "next_sentence_labels": [1],
    }


def test_encode_instance_writes_no_masks_for_dynamic_masking():
    record = encode_instance(
        masked_instance(), short_options(dynamic_masking=True)
    )
    assert decode_record(record).keys() == {
        "input_ids",
        "input_mask",
        "segment_ids",
        "next_sentence_labels",
    }


def test_an_instance_encoder_counts_instances_and_tokens():
    options = short_options()
    encoder = InstanceEncoder(VOCABULARY, options)
    instance = masked_instance()
    records = [encoder.encode_and_count(instance) for _ in range(3)]
    assert records == [encode_instance(instance, options)] * 3
    assert (encoder.num_instances, encoder.num_wordpieces) == (3, 15)
