"""Faster forms of modeling/ops.py, which TensorFlow fuses or compiles.

Without this package the network computes the same results, but slower.

    choice.py     chooses the form of each call and contains all rules for it
    fusions.py    for inference: forms that TensorFlow's graph optimizer fuses
    kernels.py    for training: elementwise operations, each compiled to a loop
    tracing.py    for training: traces one graph for all blocks
    inference.py  calls a trained model for prediction
"""
