"""Records of pretraining instances."""

import tensorflow as tf

from data.io import tfrecords
from data.pretraining.instance_encoding import (
    Continuation,
    EncodedVocabulary,
    InstanceEncoder,
    TrainingInstance,
    encode_instance,
)
from data.pretraining.pretraining_options import InstanceOptions
from data.text.vocabulary_files import REQUIRED_TOKENS
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
    assert (encoder.num_instances, encoder.num_pieces) == (3, 15)


def test_random_words_are_those_of_googles_ordered_dict():
    """Each word of the vocabulary once, in the order of its first line."""
    names = [*REQUIRED_TOKENS, "un", "##want", "##ed", "b", "a", "b"]
    vocab = {name: index for index, name in enumerate(names)}
    assert [*vocab] == names[:-1]
    assert vocab["b"] == 9
    vocabulary = EncodedVocabulary(vocab)
    assert vocabulary.encoded_tokens == [
        vocabulary[name] for name in names[:-1]
    ]


def test_a_wordpiece_is_the_bytes_of_its_id():
    vocabulary = EncodedVocabulary({"[PAD]": 0, "boat": 127, "##s": 300})
    assert vocabulary["[PAD]"] == b"\x00"
    assert vocabulary["boat"] == b"\x7f"
    # A varint has seven bits in a byte.
    assert vocabulary["##s"] == b"\xac\x02" == tfrecords.encode_varint(300)


def test_only_a_continuation_continues_a_word():
    vocabulary = EncodedVocabulary({"boat": 1, "##s": 2, "#": 3, "#x": 4})
    continues = {
        name: isinstance(code, Continuation)
        for name, code in vocabulary.items()
    }
    assert continues == {"boat": False, "##s": True, "#": False, "#x": False}
