"""Faster versions of the functions in modeling/ops.py.

TensorFlow fuses or compiles these versions. Without this package the network is
slower, and its results differ only by rounding. ops.py calls these functions:

    fusions.py: functions that TensorFlow fuses, or calls with less preparation,
        most of them in inference
    compiled.py: for training, elementwise operations, each compiled to a loop
    graphs.py: for training, traces one graph for all blocks

Code that predicts in a graph of TensorFlow imports another module:

    prediction.py: calls a trained model, with kernels that were cast once
"""
