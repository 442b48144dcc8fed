"""Types of `tf.dtypes`."""

from tensorflow._tensors import DType

# A DType, its name, its number or NumPy's dtype.
def as_dtype(type_value: object) -> DType: ...
