"""Faster forms of the functions in modeling/ops.py.

TensorFlow fuses or compiles these forms. Without this package the network is
slower, and its results differ only by rounding.

    choice.py     chooses for each call the form of a function
    fusions.py    for inference: forms that TensorFlow's graph optimizer fuses
    kernels.py    for training: elementwise operations, each compiled to a loop
    tracing.py    for training: traces one graph for all blocks
    inference.py  calls a trained model for prediction
"""
