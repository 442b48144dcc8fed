"""Named entities: files, features, decoding, and conlleval's scores."""

import random

import numpy as np
import pytest
import tensorflow as tf

from data.ner import reading, scoring, windows
from data.text import tokenization
from tests import golden


@pytest.fixture
def tokenizer(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n##d\n##e\n")
    return tokenization.FullTokenizer(str(path), do_lower_case=True)


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


TRAIN = """-DOCSTART- -X- -X- O

ad NN B-NP B-PER
b NN I-NP I-PER
c NN O O

a NN O B-LOC
-DOCSTART- -X- -X- O
b NN O O
"""


def test_sentences_documents_and_labels(tmp_path):
    write(tmp_path, "train.txt", TRAIN)
    processor = reading.NerProcessor()
    assert processor.get_labels(tmp_path) == ["O", "B-LOC", "B-PER", "I-PER"]
    examples = processor.get_train_examples(tmp_path)
    assert [(e.guid, e.words, e.document) for e in examples] == [
        ("train-1", ["ad", "b", "c"], 1),
        ("train-2", ["a"], 1),
        ("train-3", ["b"], 2),
    ]
    assert examples[0].labels == ["B-PER", "I-PER", "O"]


def test_iob1_becomes_iob2(tmp_path):
    # As first released: B- only between neighbours of one type.
    write(tmp_path, "eng.testb", "a I-LOC\nb B-LOC\nc I-LOC\nd I-PER")
    (example,) = reading.NerProcessor().get_test_examples(tmp_path)
    assert example.labels == ["B-LOC", "B-LOC", "I-LOC", "B-PER"]
    write(tmp_path, "test.txt", "a\nb\n")
    (example,) = reading.NerProcessor().get_test_examples(tmp_path)
    assert example.labels == ["O", "O"]


def test_only_spaces_and_tabs_separate_columns(tmp_path):
    path = tmp_path / "dev.txt"
    path.write_bytes("\ufeffa\u00a0b\tNN  O\r\n\r\nc O\r\n".encode())
    first, second = reading.NerProcessor().get_dev_examples(tmp_path)
    assert (first.words, first.labels) == (["a\u00a0b"], ["O"])
    assert second.words == ["c"]


@pytest.mark.parametrize(
    "split, name, sentences, words, entities",
    [
        # The figures of the shared task's description.
        ("train", "train", 14041, 203621, 23499),
        ("eval", "valid", 3250, 51362, 5942),
        ("predict", "test", 3453, 46435, 5648),
    ],
)
def test_distributed_files(split, name, sentences, words, entities):
    path = golden.shared(f"data/conll2003/{name}.txt")
    examples = reading.NerProcessor().read_split(path.parent, split)
    assert len(examples) == sentences
    assert sum(len(e.words) for e in examples) == words
    found = [scoring.find_entities(e.labels) for e in examples]
    assert sum(map(len, found)) == entities
    # They are IOB2 already.
    lines = [line.split() for line in path.read_text().splitlines()]
    tags = [line[-1] for line in lines if line and line[0] != "-DOCSTART-"]
    assert [label for e in examples for label in e.labels] == tags


@pytest.mark.parametrize(
    "text, message",
    [
        ("a O\nb\n", "dev.txt, line 2: a line must hold a word and, last"),
        ("a O\nb NN PER\n", "line 2: the last column must be a tag.*'PER'"),
        ("a O\n\nb M-PER\n", "dev.txt, line 3: the last column must.*'M-PER'"),
        ("a O\nb B-\n", "line 2: the last column must be a tag.*'B-'"),
        ("a O\n\nb I-PER\n", "line 3: unknown tag 'B-PER'; the tags are"),
        ("-DOCSTART-\n\n", "dev.txt holds no sentence"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    write(tmp_path, "dev.txt", text)
    processor = reading.NerProcessor(labels=["O", "B-LOC"])
    with pytest.raises(ValueError, match=message):
        processor.get_dev_examples(tmp_path)
    with pytest.raises(OSError, match="named train.txt or eng.train"):
        processor.get_train_examples(tmp_path)


def test_a_train_set_without_entities_is_refused(tmp_path):
    write(tmp_path, "train.txt", "a O\n")
    with pytest.raises(ValueError, match="has no tag but O"):
        reading.NerProcessor().get_labels(tmp_path)


LABELS = ["O", "B-LOC", "B-PER", "I-PER"]


def features_of(tmp_path, tokenizer, **kwargs):
    write(tmp_path, "train.txt", TRAIN)
    examples = reading.NerProcessor().get_train_examples(tmp_path)
    return list(
        windows.create_features(examples, LABELS, tokenizer=tokenizer, **kwargs)
    )


def test_first_word_piece_has_the_label(tmp_path, tokenizer):
    first, *rest = features_of(tmp_path, tokenizer, max_seq_length=8)
    assert len(rest) == 2
    assert first.tokens == ["[CLS]", "a", "##d", "b", "c", "[SEP]"]
    assert first.input_ids == [2, 4, 7, 5, 6, 3, 0, 0]
    assert first.input_mask == [1] * 6 + [0] * 2
    assert first.label_ids == [0, 2, 0, 3, 0, 0, 0, 0]
    assert first.label_weights == [0, 1, 0, 1, 1, 0, 0, 0]
    record = tf.train.Example.FromString(windows.encode_ner_features(first))
    feature = record.features.feature
    assert list(feature["label_ids"].int64_list.value) == first.label_ids
    assert list(feature["label_weights"].float_list.value) == (
        first.label_weights
    )


def test_document_context(tmp_path, tokenizer):
    first, second = features_of(
        tmp_path, tokenizer, max_seq_length=8, document_context=True
    )
    assert first.tokens == ["[CLS]", "a", "##d", "b", "c", "a", "[SEP]"]
    assert first.words == [(1, 0, 0), (3, 0, 1), (4, 0, 2), (5, 1, 0)]
    assert second.tokens == ["[CLS]", "b", "[SEP]"]


@pytest.mark.parametrize("document_context", [False, True])
@pytest.mark.parametrize("max_seq_length", [3, 4, 5, 7, 32])
def test_every_word_counts_once_and_is_decoded(
    tokenizer, max_seq_length, document_context
):
    rng = np.random.default_rng(max_seq_length)
    examples = [
        reading.NerExample(
            f"g-{i}",
            words := rng.choice(
                ["a", "bd", "cde", "\u200b"], rng.integers(1, 9)
            ),
            rng.choice(LABELS, len(words)).tolist(),
            document=i // 3,
        )
        for i in range(10)
    ]
    features = list(
        windows.create_features(
            examples, LABELS, max_seq_length, tokenizer, document_context
        )
    )
    counted = [word[1:] for feature in features for word in feature.words]
    assert len(counted) == len(set(counted))
    assert len(counted) == sum(len(e.words) for e in examples)
    for feature in features:
        assert len(feature.input_ids) == max_seq_length
        weights = np.zeros(max_seq_length)
        weights[[position for position, _, _ in feature.words]] = 1
        assert feature.label_weights == weights.tolist()
    # What is not counted must not matter.
    predicted = [
        np.where(np.array(f.label_weights) > 0, f.label_ids, 1)
        for f in features
    ]
    tags = windows.decode_predictions(examples, features, predicted, LABELS)
    assert tags == [e.labels for e in examples]


def test_wrong_arguments(tmp_path, tokenizer):
    with pytest.raises(ValueError, match="max_seq_length=2"):
        features_of(tmp_path, tokenizer, max_seq_length=2)
    example = reading.NerExample("dev-4", ["a"], ["B-X"], 0)
    with pytest.raises(ValueError, match="dev-4 has the label 'B-X'"):
        list(windows.create_features([example], LABELS, 8, tokenizer))


def test_predictions_file(tmp_path):
    write(tmp_path, "train.txt", TRAIN)
    examples = reading.NerProcessor().get_train_examples(tmp_path)
    tags = [["O", "B-PER", "O"], ["O"], ["B-LOC"]]
    windows.write_predictions(tmp_path, examples, tags)
    assert (tmp_path / "test_predictions.txt").read_text() == (
        "ad B-PER O\nb I-PER B-PER\nc O O\n\na B-LOC O\n\nb O B-LOC\n\n"
    )


@pytest.mark.parametrize(
    "tags, entities",
    [
        ("O O", []),
        ("B-A I-A B-A", [("A", 0, 2), ("A", 2, 3)]),
        ("I-A I-A O I-A", [("A", 0, 2), ("A", 3, 4)]),
        ("B-A I-B I-B B-B", [("A", 0, 1), ("B", 1, 3), ("B", 3, 4)]),
        ("I-A B-A I-A", [("A", 0, 1), ("A", 1, 3)]),
        ("I-X-Y I-X-Y", [("X-Y", 0, 2)]),
        ("I-A E-A I-A E-A E-A", [("A", 0, 2), ("A", 2, 4), ("A", 4, 5)]),
        ("E-A B-B E-B S-A", [("A", 0, 1), ("B", 1, 3), ("A", 3, 4)]),
        # conlleval.pl has no rule for what follows E or S here.
        ("B-A E-A S-A B-A", [("A", 0, 4)]),
        ("S-A S-A O S-A", [("A", 0, 2), ("A", 3, 4)]),
    ],
)
def test_entities(tags, entities):
    assert scoring.find_entities(tags.split()) == entities


def random_entities(rng, num_words):
    """Returns (type, start, end) of some words, side by side or apart."""
    entities, start = [], 0
    while start < num_words:
        end = min(start + rng.randint(1, 3), num_words)
        if rng.random() < 0.7:
            entities.append((rng.choice(["A", "B-C"]), start, end))
        start = end
    return entities


def encode(entities, num_words, prefixes):
    """Tags the first, middle, last and lone words of entities."""
    first, middle, last, lone = prefixes
    tags = ["O"] * num_words
    for name, start, end in entities:
        word_prefixes = [first, *[middle] * (end - start - 2), last]
        if end - start == 1:
            word_prefixes = [lone]
        for i, prefix in enumerate(word_prefixes, start):
            tags[i] = f"{prefix}-{name}"
    return tags


SCHEMES = {
    "IOB2": "BIIB",
    "IOE2": "IIEE",
    "IOBES": "BIES",
    "BILOU": "BILU",
    "BIO with S": "BIIS",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_tags_of_each_scheme_are_read_as_they_are_meant(scheme):
    rng = random.Random(scheme)
    for _ in range(2000):
        num_words = rng.randint(0, 9)
        entities = random_entities(rng, num_words)
        tags = encode(entities, num_words, SCHEMES[scheme])
        iob2 = scoring.to_scheme(tags)
        assert iob2 == encode(entities, num_words, "BIIB")
        assert scoring.find_entities(iob2) == entities
        for wanted in ("BIES", "BILU"):
            labels = ["O", *(f"{prefix}-A" for prefix in wanted)]
            assert scoring.to_scheme(tags, labels) == encode(
                entities, num_words, wanted
            )


def test_a_file_of_iobes(tmp_path):
    text = "a B-PER\nb E-PER\nc S-PER\n\nd S-LOC\n"
    write(tmp_path, "train.txt", text)
    processor = reading.NerProcessor()
    assert processor.get_labels(tmp_path) == LABELS
    first, second = processor.get_train_examples(tmp_path)
    assert first.labels == ["B-PER", "I-PER", "B-PER"]
    assert second.labels == ["B-LOC"]
    # A model of IOBES, such as another toolkit trained, keeps it.
    labels = ["O", "S-LOC", "B-PER", "E-PER", "S-PER"]
    write(tmp_path, "train.txt", text.replace("c S-PER", "c B-PER"))
    first, _ = reading.NerProcessor(labels).get_train_examples(tmp_path)
    assert first.labels == ["B-PER", "E-PER", "S-PER"]


# The pairs of prefixes, of neighbouring tags of one type, between which
# conlleval.pl sees an entity end, and begin.
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
BEGINS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}


def count_as_conlleval(right, found):
    """Counts entities in one pass over the tags, without listing them.

    Returns:
        (right, found, correct) numbers.
    """
    counts, is_correct = [0, 0, 0], False
    before = [("O", ""), ("O", "")]
    for pair in zip([*right, "O"], [*found, "O"], strict=True):
        now = [tag.partition("-")[::2] for tag in pair]
        ends, begins = [], []
        for (old, old_type), (new, new_type) in zip(before, now, strict=True):
            changes = old_type != new_type
            ends.append(old + new in ENDS or (old != "O" and changes))
            begins.append(old + new in BEGINS or (new != "O" and changes))
        if is_correct and all(ends) and before[0][1] == before[1][1]:
            counts[2] += 1
            is_correct = False
        elif ends[0] != ends[1] or now[0][1] != now[1][1]:
            is_correct = False
        if all(begins) and now[0][1] == now[1][1]:
            is_correct = True
        counts[0] += begins[0]
        counts[1] += begins[1]
        before = now
    return counts


def test_scores_of_any_tags_are_those_of_conlleval():
    rng = random.Random(7)
    tags = ["O", *(f"{prefix}-{name}" for prefix in "BIESLU" for name in "XY")]
    for _ in range(20000):
        right = rng.choices(tags, k=rng.randint(1, 6))
        found = [
            tag if rng.random() < 0.7 else rng.choice(tags) for tag in right
        ]
        num_right, num_found, correct = count_as_conlleval(right, found)
        scores = scoring.score_entities([right], [found])
        assert scores["precision"] == (correct / num_found if correct else 0)
        assert scores["recall"] == (correct / num_right if correct else 0)


def test_scores_are_those_of_conlleval():
    # What conlleval says of these: 9 tokens, 4 phrases, found 5, correct 2;
    # accuracy 66.67%, precision 40.00%, recall 50.00%, FB1 44.44;
    # LOC 1 of 2 found and of 1; PER 1 of 3 found and of 3.
    right = ["B-PER I-PER O B-LOC", "B-PER B-PER I-PER", "O O"]
    found = ["B-PER I-PER B-LOC B-LOC", "B-PER I-PER I-PER", "B-PER O"]
    scores = scoring.score_entities(
        [tags.split() for tags in right], [tags.split() for tags in found]
    )
    assert scores == pytest.approx(
        {
            "accuracy": 6 / 9,
            "precision": 2 / 5,
            "recall": 2 / 4,
            "f1": 4 / 9,
            "LOC_precision": 1 / 2,
            "LOC_recall": 1.0,
            "LOC_f1": 2 / 3,
            "PER_precision": 1 / 3,
            "PER_recall": 1 / 3,
            "PER_f1": 1 / 3,
        }
    )


def test_scores_without_entities():
    scores = scoring.score_entities([["O"]], [["O"]])
    assert scores == {"accuracy": 1, "precision": 0, "recall": 0, "f1": 0}
    with pytest.raises(ValueError, match="sentence 1 has 1 tags, but 2"):
        scoring.score_entities([["O"]], [["O", "O"]])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["O", "B-X", "B-X"], "--labels: label 3, 'B-X', is label 2 too"),
        (["O"], "--labels: the task needs 2 labels or more"),
    ],
)
def test_labels_that_cannot_be_learned_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        reading.NerProcessor(labels)
