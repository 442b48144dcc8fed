"""The network's input for a text or a pair, compared with the original."""

import json

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    convert_examples_to_features,
    convert_single_example,
)
from data.classification.glue import glue_tasks
from data.text import tokenization
from tests.support import golden


def recorded_sets():
    """Returns a param for each TASK/SPLIT of every golden folder."""
    params = []
    for path in (p.values[0] for p in golden.paths("classifier/cases.json")):
        case = json.loads(path.read_text())
        with np.load(path.parent / case["features"]) as features:
            names = sorted({name.rsplit("/", 1)[0] for name in features})
        where = golden.label(path.parent)
        params += [
            pytest.param(path.parent, case, name, id=f"{where}/{name}")
            for name in names
        ]
    return params


def create_processor(task, folder, language="zh"):
    """Creates the processor of one of GLUE's tasks."""
    return glue_tasks.create_glue_processors(task, folder, language)[0]


@pytest.mark.parametrize("folder, case, name", recorded_sets())
def test_features_equal_the_originals(folder, case, name):
    task, set_name = name.split("/")
    processor = create_processor(task, folder / task)
    tokenizer = tokenization.FullTokenizer(
        str(folder / case["vocab_file"]), case["do_lower_case"]
    )
    examples = processor.read(set_name)
    features = list(
        convert_examples_to_features(
            examples, processor.read_labels(), case["max_seq_length"], tokenizer
        )
    )
    with np.load(folder / case["features"]) as recorded:
        assert [example.guid for example in examples] == recorded[
            f"{name}/guid"
        ].tolist()
        for key in ("input_ids", "input_mask", "segment_ids", "label_ids"):
            ours = [
                getattr(f, key.replace("label_ids", "label_id"))
                for f in features
            ]
            expected = recorded[f"{name}/{key}"]
            np.testing.assert_array_equal(np.array(ours), expected, err_msg=key)


@pytest.mark.parametrize(
    "text_a, text_b, ids, segments",
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
def test_ids_and_segments_of_a_text_and_of_a_pair(
    tokenizer, text_a, text_b, ids, segments
):
    example = InputExample("g", text_a, text_b, "0")
    features = convert_single_example(9, example, ["0"], 8, tokenizer)
    assert features.input_ids == ids
    assert features.segment_ids == segments
    assert features.input_mask == [int(i > 0) for i in ids]
