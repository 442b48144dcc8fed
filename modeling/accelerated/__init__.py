"""The operations of modeling/ops.py, as TensorFlow fuses or compiles them.

Without this package the network computes the same, and slower.

    choice.py     which form a call takes: all rules are here
    fusions.py    inference: forms that TensorFlow's graph optimizer fuses
    kernels.py    training: elementwise parts, each compiled to one loop
    tracing.py    training: one graph for all blocks
    inference.py  how a trained model is called for prediction
"""
