"""Compares two texts: how similar they are, or how well one answers the other.

Rows of a user's table are such pairs if --task_name is embedding or ranking.
data/classification/user_tables/ reads the table.

    pair_scores.py: embedding: the scores of pairs, and the scale of the scores
    pair_vectors.py: embedding: pairs to inputs, and vectors to cosines
    ranking_metrics.py: ranking: the metrics of passages, ranked for queries
"""
