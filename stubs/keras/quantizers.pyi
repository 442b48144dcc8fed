"""Types of the quantizers of Keras in use."""

class Int8QuantizationConfig:
    mode: str
