"""Changes the weights in a folder of Hugging Face's format."""

import numpy as np
import safetensors.numpy

# Weights of a classifier's or a tagger's head.
HEAD = ("classifier.weight", "classifier.bias")


def change_weights(folder, added, removed=()):
    """Removes and adds weights of a Hugging Face folder.

    `added` is {name: shape} of weights that are 0.
    """
    file = folder / "model.safetensors"
    tensors = safetensors.numpy.load_file(file)
    for name in removed:
        del tensors[name]
    zeros = {name: np.zeros(shape, "f4") for name, shape in added.items()}
    safetensors.numpy.save_file(tensors | zeros, file)
