"""Tables of scores."""

from model_folders import results


def test_scores_of_single_labels_are_rows_of_a_table():
    scores = {
        "accuracy": 0.5,
        "global_step": 12,
        "HasAns_f1": 0.25,
        **{f"not_{rate}_mm": 0.75 for rate in results.LABEL_SCORES},
        **{f"a b_{rate}": 1.0 for rate in results.LABEL_SCORES},
        "not_support_mm": 12.0,
        "a b_support": 12,
    }
    assert results.format_results(scores).splitlines() == [
        "  accuracy        0.5000",
        "  global_step         12",
        "  HasAns_f1       0.2500",
        "  label        precision     recall         f1    support",
        "  not_mm          0.7500     0.7500     0.7500         12",
        "  a b             1.0000     1.0000     1.0000         12",
    ]
