"""Tables of queries and passages, and of pairs of texts."""

import pytest

from tests.support.tables.labeled_tables import open_task_processor


def read_set(folder, name, text, task_name, **flags):
    """Writes the table of a set, and returns its texts and labels."""
    (folder / f"{name}.csv").write_text(text)
    examples = open_task_processor(task_name, folder, **flags).sets.read(name)
    return [
        (example.text_a, example.text_b, example.label) for example in examples
    ]


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


def test_a_relevance_that_is_not_a_number_is_an_error(tmp_path):
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
