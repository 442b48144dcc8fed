"""Layers that differ by their weights alone, traced once for all of them.

Python makes the operations of a graph one by one, which for all blocks of an
encoder and their gradients takes seconds. Here it makes one block's, called
with the weights of each; TensorFlow puts copies in the calls' places.
"""

import keras

_TRACES = keras.backend.backend() == "tensorflow"


def traced_once(function, layer):
    """Has a graph made of one copy of a function of a layer, for all like it.

    It is for training: where an exported graph is run without copies, oneDNN,
    told that weights never change, would take one layer's for those of all.

    In mixed precision what `keras.remat` computes again is a second trace:
    Keras casts weights in the forward pass alone.

    Args:
        function: (layer, *tensors) -> tensors. It may use other tensors of
            the graph that it is called in, but of variables only the layer's.
        layer: built keras.layers.Layer, the one that is traced.

    Returns:
        the function of any layer that differs from `layer` by its weights
        alone; outside of graphs, and of TensorFlow, `function` as it is.
    """
    if not _TRACES:
        return function
    import tensorflow as tf

    if tf.executing_eagerly():
        return function

    @tf.function(autograph=False)
    def call_with(weights, *tensors):
        mapping = list(zip(layer.variables, weights, strict=True))
        with keras.StatelessScope(mapping):
            return function(layer, *tensors)

    def call(layer, *tensors):
        weights = [tf.convert_to_tensor(v.value) for v in layer.variables]
        return call_with(weights, *tensors)

    return call
