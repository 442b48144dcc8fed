"""Reads tables of pairs of texts, to rank passages and to compare vectors.

Read the modules in this order:

    pair_processors.py: reads the sets, of queries and passages or of two texts
    pair_features.py: two texts to two inputs, and to a scale of scores
    pair_scoring.py: rankings, and the vectors of pairs, to scores
"""
