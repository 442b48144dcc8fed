"""The output modes of classifiers: what their labels are.

--output_mode sets the mode, and model.json records it.
"""

from typing import Final, Literal, TypeAlias

# One label for each text, any number of labels, or a number instead of labels.
OutputMode: TypeAlias = Literal["classification", "multilabel", "regression"]
CLASSIFICATION: Final = "classification"
MULTILABEL: Final = "multilabel"
REGRESSION: Final = "regression"
