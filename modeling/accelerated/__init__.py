"""The operations of modeling/ops.py, as TensorFlow fuses or compiles them.

Without this package the network computes the same, and slower.

    choice.py     chooses the form for a call: all rules are here
    fusions.py    inference: forms that TensorFlow's graph optimizer fuses
    kernels.py    training: elementwise parts, each compiled to one loop
    tracing.py    training: one graph for all blocks
    inference.py  calls a trained model for prediction
"""
