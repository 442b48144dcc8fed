"""The inputs of texts, pairs and windows, and their records."""

import dataclasses
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import tensorflow as tf

from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    ClassificationFeatures,
    convert_examples_to_features,
    convert_single_example,
    create_window_features,
    encode_classification_features,
    encode_features,
)
from data.classification.glue.glue_processor import create_glue_processor
from data.probabilities import to_probabilities
from data.text import tokenization
from modeling import losses
from tests.support import golden


def list_recorded_sets():
    """Returns a param for each TASK/SPLIT of every golden folder."""
    params = []
    for path_param in golden.path_params("classifier/cases.json"):
        (path,) = path_param.values
        folder = path.parent
        case = json.loads(path.read_text())
        with np.load(folder / case["features"]) as features:
            names = sorted({name.rpartition("/")[0] for name in features})
        where = golden.name_of_golden_folder(folder)
        params += [
            pytest.param((folder, case, name), id=f"{where}/{name}")
            for name in names
        ]
    return params


@dataclasses.dataclass(frozen=True)
class RecordedSet:
    """A set of GLUE as this project reads it, and as Google's code did.

    Attributes:
        name: "MRPC/dev" for the dev set of MRPC.
        examples: its examples.
        features: their features.
        recorded: {feature: array} of Google's code.
    """

    name: str
    examples: Sequence[InputExample]
    features: Sequence[ClassificationFeatures]
    recorded: Mapping[str, np.ndarray]

    @property
    def has_labels(self):
        """Whether the set has labels: GLUE keeps those of test sets back."""
        task, set_name = self.name.split("/")
        return set_name != "test" or task == "xnli"


@pytest.fixture(scope="module", params=list_recorded_sets())
def recorded_set(request):
    """A RecordedSet of a golden folder."""
    folder, case, name = request.param
    task, set_name = name.split("/")
    sets = create_glue_processor(task, folder / task, "zh").sets
    examples = sets.read(set_name)
    tokenizer = tokenization.FullTokenizer(
        str(folder / case["vocab_file"]), case["do_lower_case"]
    )
    features = convert_examples_to_features(
        examples, sets.read_labels(), case["max_seq_length"], tokenizer
    )
    with np.load(folder / case["features"]) as arrays:
        recorded = {
            key.removeprefix(f"{name}/"): arrays[key]
            for key in arrays
            if key.startswith(f"{name}/")
        }
    return RecordedSet(name, examples, [*features], recorded)


def test_examples_are_named_as_by_googles_code(recorded_set):
    guids = [example.guid for example in recorded_set.examples]
    assert guids == recorded_set.recorded["guid"].tolist()


@pytest.mark.parametrize("name", ["input_ids", "input_mask", "segment_ids"])
def test_inputs_are_those_of_googles_code(recorded_set, name):
    values = [getattr(features, name) for features in recorded_set.features]
    np.testing.assert_array_equal(values, recorded_set.recorded[name])


def test_labels_are_those_of_googles_code(recorded_set):
    label_ids = recorded_set.recorded["label_ids"].tolist()
    if recorded_set.has_labels:
        ours = [features.label_id for features in recorded_set.features]
        assert ours == label_ids
    else:
        # Google's code writes 0 where there is no label.
        assert not any(label_ids)
        assert {example.label for example in recorded_set.examples} == {None}


@pytest.mark.parametrize(
    ("text_a", "text_b", "ids", "segments"),
    [
        # [CLS] a b a [SEP]: cut to fit.
        ("a b a b a b", None, [2, 4, 5, 4, 5, 4, 5, 3], [0] * 8),
        # An empty second text counts as none.
        ("a b", "", [2, 4, 5, 3, 0, 0, 0, 0], [0] * 8),
        # The longer is cut; of two equally long, the second.
        ("a a a a a", "b b b b", [2, 4, 4, 4, 3, 5, 5, 3], [0] * 5 + [1] * 3),
        ("", "b", [2, 3, 5, 3, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_a_text_and_a_pair_become_ids_and_segments(
    tokenizer, text_a, text_b, ids, segments
):
    example = InputExample("g", text_a, text_b, "0")
    features = convert_single_example(9, example, ["0"], 8, tokenizer)
    assert features.input_ids == ids
    assert features.segment_ids == segments
    assert features.input_mask == [int(i > 0) for i in ids]


def create_windows(tokenizer):
    """Returns the windows of a long text, an empty text and a short text."""
    texts = ["a b c a b c a", "", "a b c"]
    examples = [InputExample("g", text, None, "y") for text in texts]
    return [*create_window_features(examples, ["x", "y"], 6, tokenizer, 2)]


@pytest.fixture
def windows(tokenizer):
    """The windows of three texts, as `create_windows` returns them."""
    return create_windows(tokenizer)


def test_the_windows_of_a_text_cover_it(windows):
    long, empty, short = windows
    assert [window.input_ids for window in long] == [
        [2, 4, 5, 6, 4, 3],
        [2, 6, 4, 5, 6, 3],
        [2, 5, 6, 4, 3, 0],
    ]
    assert long[2].input_mask == [1, 1, 1, 1, 1, 0]
    assert [window.input_ids for window in empty] == [[2, 3, 0, 0, 0, 0]]
    assert [window.input_ids for window in short] == [[2, 4, 5, 6, 3, 0]]


def test_the_weights_of_the_windows_of_a_text_add_up_to_1(windows):
    weights = [[window.weight for window in group] for group in windows]
    assert weights == [[1 / 3] * 3, [1], [1]]


def test_each_window_has_the_label_of_its_text(windows):
    label_ids = [[window.label_id for window in group] for group in windows]
    assert label_ids == [[1, 1, 1], [1], [1]]


def test_texts_that_were_split_into_windows_are_counted(tokenizer, caplog):
    caplog.set_level("INFO", logger="absl")
    create_windows(tokenizer)
    (message,) = caplog.messages
    assert message.startswith("1 of 3 texts ")
    assert "--max_seq_length=6" in message
    assert "--doc_stride=2" in message


def test_a_loss_counts_windows_by_their_weights():
    logits = np.array([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], np.float32)
    batch = {
        "label_ids": np.array([0, 0, 1]),
        "is_real_example": np.array([1, 1, 1]),
        "example_weights": np.array([0.5, 0.5, 1.0], np.float32),
    }
    losses_of_texts = -np.log(to_probabilities(logits, "classification"))[
        range(3), batch["label_ids"]
    ]
    loss, _ = losses.ClassifierLoss()(logits, batch)
    expected = (losses_of_texts[:2].mean() + losses_of_texts[2]) / 2
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_texts_that_were_cut_are_counted(tokenizer, caplog):
    caplog.set_level("INFO", logger="absl")
    pairs = [
        ("a b a b a b", None),  # As long as fits.
        ("a b a b a b a", None),
        ("a a a", "b b"),
        ("a a a", "b b b"),
        ("a a a a a a", ""),
        ("", "b b b b b b"),
    ]
    examples = [InputExample("g", *pair, "0") for pair in pairs]

    feature_list = [
        *convert_examples_to_features(examples, ["0"], 8, tokenizer)
    ]
    assert len([*encode_features(feature_list, 8)]) == 6
    cut = [False, True, False, True, False, True]
    assert [feature.is_cut for feature in feature_list] == cut
    message = "3 of 6 texts were longer than --max_seq_length=8 and were cut"
    assert caplog.messages[-1] == message


@pytest.mark.parametrize(
    ("label", "label_list", "label_id", "kind"),
    [
        ("1", ["0", "1"], 1, "int64_list"),
        ("2.5", None, 2.5, "float_list"),
        (["b", "c"], ["a", "b", "c"], [0, 1, 1], "int64_list"),
        ([], ["a", "b"], [0, 0], "int64_list"),
    ],
)
def test_a_record_contains_the_id_of_the_label(
    tokenizer, label, label_list, label_id, kind
):
    example = InputExample("g", "a", None, label)
    features = convert_single_example(9, example, label_list, 4, tokenizer)
    assert features.label_id == label_id
    record = encode_classification_features(features)
    values = tf.train.Example.FromString(record).features.feature
    label_ids = label_id if isinstance(label_id, list) else [label_id]
    assert getattr(values["label_ids"], kind).value == label_ids
    assert values["input_ids"].int64_list.value == features.input_ids
    assert values["is_real_example"].int64_list.value == [1]


def test_the_record_of_a_window_contains_its_weight():
    window = ClassificationFeatures([2, 3], [1, 1], [0, 0], 1, weight=1 / 3)
    record = encode_classification_features(window)
    values = tf.train.Example.FromString(record).features.feature
    assert values["example_weights"].float_list.value == pytest.approx([1 / 3])
