"""Names the rules by which a trained model restricts the values of flags."""

import enum


class Role(enum.Enum):
    """Rule that a trained model imposes on the value of a flag.

    A model's folder records the flags of the model's training.

    IDENTITY: describes the network, or how text is tokenized. The default is
        the recorded value. Any other value is an error.
    HEAD: describes the head for a task. The default is the recorded value if a
        command uses the head without training it. A resumed run must not change
        the value.
    TRAINING: describes the training. The recorded value is never the default. A
        resumed run must not change the value.
    DECODING: describes how the model's outputs become answers. The default is
        chosen as for HEAD. A resumed run may change the value.
    NEUTRAL: changes no weight, and changes predictions only by rounding errors.
    """

    IDENTITY = "identity"
    HEAD = "head"
    TRAINING = "training"
    DECODING = "decoding"
    NEUTRAL = "neutral"
