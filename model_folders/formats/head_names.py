"""Recognizes a checkpoint's head by the names and shapes of its weights."""

from collections.abc import Iterable, Mapping, Sequence

from model_folders.kinds import ModelClass

# Google's name and Hugging Face's name of a head's bias.
_BIAS_NAMES = ("output_bias", "classifier.bias")
# Classes of models whose heads have the same names in a checkpoint.
_LABEL_CLASSES: Sequence[ModelClass] = (
    ModelClass.CLASSIFIER,
    ModelClass.TOKEN_CLASSIFIER,
    ModelClass.MULTIPLE_CHOICE,
)
# {start of the names of a head's weights: classes of models with such a head},
# in Google's and Hugging Face's format. The first entry that matches decides,
# because a fine-tuned checkpoint may still contain the heads of pretraining.
_CLASSES_OF_PREFIX: dict[str, Sequence[ModelClass]] = {
    "output_": _LABEL_CLASSES,
    "classifier.": _LABEL_CLASSES,
    "cls/squad/": (ModelClass.SPAN_LABELER,),
    "qa_outputs.": (ModelClass.SPAN_LABELER,),
    "cls/": (ModelClass.PRETRAINER,),
    "cls.": (ModelClass.PRETRAINER,),
}


def head_classes_of(names: Iterable[str]) -> Sequence[ModelClass]:
    """Returns the classes of models whose heads have weights of these names.

    The result has several classes if the heads have the same names, and only
    `ModelClass.ENCODER` if no name belongs to a weight of a head.

    Args:
        names: names in the file of a checkpoint's entries.
    """
    weight_names = [*names]
    for prefix, classes in _CLASSES_OF_PREFIX.items():
        if any(name.startswith(prefix) for name in weight_names):
            return classes
    return (ModelClass.ENCODER,)


def find_num_outputs(shapes: Mapping[str, Sequence[int]]) -> int | None:
    """Returns the number of outputs of a head, None without such a head.

    Args:
        shapes: {name in the file: shape} of a checkpoint's entries.
    """
    biases = [shapes[name] for name in _BIAS_NAMES if name in shapes]
    return biases[0][0] if biases and len(biases[0]) == 1 else None
