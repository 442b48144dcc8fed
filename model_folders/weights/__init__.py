"""Names, shapes and values in files of weights, read without a model."""
