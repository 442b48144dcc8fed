"""One table of queries and passages becomes a train set and a dev set."""

from data.sets.row_keys import key_of
from tests.support.tables.split_tables import split_rows


def test_all_passages_of_a_query_share_a_set(tmp_path):
    rows = [(f"Which {i // 4}?", f"p{i}", int(i % 4 == 0)) for i in range(400)]
    rows += [(f"which  {i}?", f"another {i}", 0) for i in range(100)]
    names = ("query", "passage", "relevance")
    train, dev = split_rows(tmp_path, rows, task="ranking", names=names)
    train_queries, dev_queries = (
        {key_of([query]) for query, _ in texts_of_set}
        for texts_of_set in (train, dev)
    )
    assert train_queries.isdisjoint(dev_queries)
    # Each of the 100 queries, which have five passages each.
    assert len(train_queries | dev_queries) == 100
    assert 10 < len(dev_queries) < 30
    assert len(train) + len(dev) == len(rows)
