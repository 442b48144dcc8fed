"""Encodes and scores pairs of texts: ranked passages, and vectors of texts.

Read the modules in this order:

    pair_features.py: two texts to two inputs, and to a scale of scores
    pair_scoring.py: rankings, and the vectors of pairs, to scores
"""
