"""The output modes of classifiers: what their labels are.

--output_mode sets the mode, and model.json records it. All other modules take
the names of the modes from here.
"""

from typing import Final, Literal, TypeAlias

# What a classifier's labels are: one for each text, any number, or a number.
OutputMode: TypeAlias = Literal["classification", "multilabel", "regression"]
CLASSIFICATION: Final = "classification"
MULTILABEL: Final = "multilabel"
REGRESSION: Final = "regression"
