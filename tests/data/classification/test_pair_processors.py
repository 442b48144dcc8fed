"""Tables of queries and passages, and of pairs of texts."""

import numpy as np
import pytest
from sklearn import metrics

from data.classification import pair_processors
from data.classification.classification_examples import InputExample
from data.classification.classification_options import TableOptions
from data.classification.label_decoding import LabelDecoder
from data.classification.metrics import score_labeled
from data.classification.table_uses import TABLE_USE_OF_TASK
from data.tables.data_file_options import DataFileOptions
from data.text.tokenization import FullTokenizer
from tests.support.script_runner import SAMPLES


def read_set(folder, name, text, kind, **flags):
    """Writes the table of a set, and returns its texts and labels."""
    (folder / f"{name}.csv").write_text(text)
    examples = create_processor(kind, folder, **flags).read(name)
    return [
        (example.text_a, example.text_b, example.label) for example in examples
    ]


def create_processor(task_name, folder, **flags):
    """Creates the processor of a task, with flags that the user set."""
    return TABLE_USE_OF_TASK[task_name].create_processor(
        folder, DataFileOptions(), TableOptions(**flags), frozenset(flags)
    )


def compute_ranking_metrics(tmp_path, gains, scores, queries):
    processor = create_processor("ranking", tmp_path)
    examples = [
        InputExample(row, query, "p", gain)
        for row, (query, gain) in enumerate(zip(queries, gains, strict=True))
    ]
    decoder = LabelDecoder("regression", None)
    return score_labeled(examples, scores, decoder, processor.score)


def test_ranks_and_gains_are_those_of_the_definitions(tmp_path, caplog):
    rng = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(6) for _ in range(15)]
    gains = rng.integers(0, 4, len(queries)) * (rng.random(len(queries)) < 0.2)
    gains[:15] = 0
    gains[15:30] = np.eye(15)[14]
    scores = rng.normal(size=len(queries))
    # Beyond the tenth place.
    scores[29] = -9.0
    actual = compute_ranking_metrics(tmp_path, gains.tolist(), scores, queries)
    shape = 6, 15
    rows = [
        gains_and_scores
        for gains_and_scores in zip(
            gains.reshape(shape), scores.reshape(shape), strict=True
        )
        if gains_and_scores[0].any()
    ]
    ndcg = np.mean([metrics.ndcg_score([g], [s], k=10) for g, s in rows])
    firsts = [np.flatnonzero(g[np.argsort(-s)][:10])[:1] for g, s in rows]
    assert firsts[0].size == 0
    mrr = np.mean([1 / (f[0] + 1) if f.size else 0 for f in firsts])
    assert actual == pytest.approx({"ndcg_10": ndcg, "mrr_10": mrr})
    assert f"{6 - len(rows)} of 6 queries have no relevant" in caplog.text


def test_equal_scores_and_unknown_labels_do_not_improve_a_rank(tmp_path):
    gains = [1, 0, 0, None]
    scores = [0.0, 0.0, 0.0, 1.0]
    results = compute_ranking_metrics(tmp_path, gains, scores, ["q"] * 4)
    assert results["mrr_10"] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="argument 2 is longer than"):
        compute_ranking_metrics(tmp_path, gains, [*scores, 2.0], ["q"] * 4)
    assert np.isnan(
        compute_ranking_metrics(tmp_path, [0], [1.0], ["q"])["mrr_10"]
    )


def test_queries_and_passages_are_found_by_their_names(tmp_path):
    text = "query,passage,relevance\na,b,1\nc,d,0\n"
    actual = read_set(tmp_path, "dev", text, "ranking")
    assert actual == [("a", "b", 1.0), ("c", "d", 0.0)]


def test_a_flag_names_the_column_of_the_queries(tmp_path):
    text = "passage,q,relevance\nb,a,\n"
    actual = read_set(tmp_path, "test", text, "ranking", text_column="q")
    assert actual == [("a", "b", None)]


def test_a_name_that_is_a_default_elsewhere_counts_if_it_is_set(tmp_path):
    text = "query,text,label\na,b,1\na,c,0\n"
    flags = {"text_b_column": "text", "label_column": "label"}
    actual = read_set(tmp_path, "dev", text, "ranking", **flags)
    assert actual[0] == ("a", "b", 1.0)


def test_a_column_of_scores_that_is_not_there_is_named(tmp_path):
    args = "dev", "text,text_b,label\na,b,1\nc,d,2\n", "embedding"
    with pytest.raises(ValueError, match="there is no column 'scroe'"):
        read_set(tmp_path, *args, label_column="scroe")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("text,text_b\na,b\nc,d\n", [None, None]),
        ("text,text_b,score\na,b,2\nc,d,5\n", [2.0, 5.0]),
    ],
)
def test_scores_may_be_missing(tmp_path, text, labels):
    actual = read_set(tmp_path, "train", text, "embedding")
    assert [label for _, _, label in actual] == labels


SCORED = "text,text_b,score\na,b,2\nc,d,\ne,f,4\n"


def test_pairs_with_a_missing_score_are_left_out(tmp_path, caplog):
    actual = read_set(tmp_path, "train", SCORED, "embedding")
    assert actual == [("a", "b", 2.0), ("e", "f", 4.0)]
    assert "1 rows without a label left out" in caplog.text


def test_pairs_of_a_test_set_are_all_kept(tmp_path):
    assert len(read_set(tmp_path, "test", SCORED, "embedding")) == 3


def test_passages_with_a_missing_relevance_are_left_out(tmp_path):
    text = "query,passage,relevance\na,b,1\nc,d,\n"
    assert read_set(tmp_path, "dev", text, "ranking") == [("a", "b", 1.0)]


def test_a_relevance_that_is_no_number_is_an_error(tmp_path):
    text = "query,passage,relevance\na,b,1\nc,d,high\n"
    with pytest.raises(ValueError, match=r"line 3.*'high'"):
        read_set(tmp_path, "dev", text, "ranking")


@pytest.mark.parametrize("name", ["is_duplicate", "label", "Score"])
def test_scores_in_another_column_are_asked_for(tmp_path, name):
    """Otherwise all pairs would be trained as similar ones."""
    text = f"text,text_b,{name}\na,b,1\nc,d,0\n"
    args = tmp_path, "train", text, "embedding"
    with pytest.raises(ValueError, match=f"--label_column.*{name}"):
        read_set(*args)
    actual = read_set(*args, label_column=name)
    assert [label for *_, label in actual] == [1, 0]
    assert read_set(*args, label_column="")[1] == ("c", "d", None)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0, 2.5, 5], [0, 0.5, 1]),
        ([-1, 0.5, 1], [-1, 0.5, 1]),
        ([None, None], [None, None]),
    ],
)
def test_features_are_of_both_texts(scores, expected):
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    examples = [
        InputExample(row, "the boat", "a", score)
        for row, score in enumerate(scores)
    ]
    max_score = pair_processors.find_max_score(examples)
    pair_processors.check_scale("train", examples, max_score)
    features = [
        *pair_processors.create_pair_features(examples, 5, tokenizer, max_score)
    ]
    assert [feature.label_id for feature in features] == expected
    ids = np.array(features[0].input_ids).reshape(2, 5)
    second = tokenizer.convert_ids_to_tokens(ids[1].tolist())
    assert second[:3] == ["[CLS]", "a", "[SEP]"]
    assert features[0].input_mask == [1, 1, 1, 1, 0, 1, 1, 1, 0, 0]


def test_all_sets_have_their_scores_on_the_scale_of_the_first():
    few, many = (
        [InputExample(0, "a", "b", score) for score in scores]
        for scores in ([0, 1], [1, 4.5])
    )
    max_score = pair_processors.find_max_score(many)
    assert max_score == 5
    pair_processors.check_scale("dev", few, max_score)
    max_score = pair_processors.find_max_score(few)
    assert max_score == 1
    with pytest.raises(
        ValueError, match="scores of the dev set are from 1 to 4"
    ):
        pair_processors.check_scale("dev", many, max_score)


TEXTS = [*map(str, range(1500))]


@pytest.fixture(scope="module")
def vectors():
    """Vectors of pairs, of which 900 have the same vector twice."""
    pairs = np.random.default_rng(0).normal(size=(1500, 2, 8))
    pairs /= np.linalg.norm(pairs, axis=-1, keepdims=True)
    pairs[:900, 1] = pairs[:900, 0]
    return pairs


@pytest.fixture(scope="module")
def recall(vectors):
    """The share of the texts whose partner is the nearest text."""
    nearest = (vectors[:, 0] @ vectors[:, 1].T).argmax(-1)
    share = np.mean(nearest == np.arange(1500))
    assert 0.6 <= share < 0.7
    return share


def test_recall_counts_the_texts_whose_partner_is_found(vectors, recall):
    assert pair_processors.recall_1(vectors, TEXTS) == recall


def test_vectors_that_are_all_the_same_find_nothing(vectors):
    same = np.ones_like(vectors) / 8**0.5
    assert pair_processors.recall_1(same, TEXTS) == 0


def test_either_of_two_equal_texts_is_the_partner(vectors, recall):
    twice = np.concatenate([vectors, vectors])
    assert pair_processors.recall_1(twice, 2 * TEXTS) == recall
