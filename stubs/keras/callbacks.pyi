"""Types of what `keras.Model.fit` returns."""

class History:
    # The numbers of the epochs, from 0.
    epoch: list[int]
    # {name of the loss or of a metric: its value after each epoch}.
    history: dict[str, list[float]]
