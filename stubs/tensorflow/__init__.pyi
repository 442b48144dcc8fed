"""Types of the parts of TensorFlow that this project builds on.

TensorFlow ships no types. To use another name, add it here.
"""

# ruff: noqa: F403, F405  Names of TensorFlow shadow Python's, so the types of
# functions and classes are in files where those of `bool` or `range` are not.

from tensorflow import autograph as autograph
from tensorflow import bitwise as bitwise
from tensorflow import compat as compat
from tensorflow import config as config
from tensorflow import data as data
from tensorflow import debugging as debugging
from tensorflow import distribute as distribute
from tensorflow import dtypes as dtypes
from tensorflow import errors as errors
from tensorflow import io as io
from tensorflow import lite as lite
from tensorflow import math as math
from tensorflow import nest as nest
from tensorflow import nn as nn
from tensorflow import ragged as ragged
from tensorflow import random as random
from tensorflow import raw_ops as raw_ops
from tensorflow import saved_model as saved_model
from tensorflow import strings as strings
from tensorflow import summary as summary
from tensorflow import tpu as tpu
from tensorflow import train as train
from tensorflow import types as types
from tensorflow._functions import *
from tensorflow._graphs import *
from tensorflow._tensors import *

newaxis: None

bfloat16: DType
bool: DType
float16: DType
float32: DType
float64: DType
int16: DType
int32: DType
int64: DType
int8: DType
string: DType
