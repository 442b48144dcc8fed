"""Faster versions of the functions in modeling/ops.py.

TensorFlow fuses or compiles these versions. Without this package the network is
slower, and its results differ only by rounding.

    version_choice.py: lists the versions, and chooses one for each call
    fusions.py: functions that TensorFlow fuses, or calls with less preparation,
        in inference, and for the functions in `ALWAYS` also in training
    compiled.py: for training, elementwise operations, each compiled to a loop
    tracing.py: for training, traces one graph for all blocks
    inference.py: calls a trained model for prediction
"""
