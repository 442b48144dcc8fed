"""Converts text to WordPieces, in Python and inside a TensorFlow graph.

BertTextClassifierPreprocessor: Turns texts, or pairs of texts, into the inputs
    of a model.
FullTokenizer: Splits text into words, then words into WordPieces.
"""

from typing import TYPE_CHECKING

from imports import lazy
from imports.registration import register

if TYPE_CHECKING:
    # The names of this package, which `lazy` imports at their first use. `as`
    # tells type checkers that they are public.
    from data.text.preprocessor import (
        BertTextClassifierPreprocessor as BertTextClassifierPreprocessor,
    )
    from data.text.tokenization import FullTokenizer as FullTokenizer

# {name: its module}
_MODULES = lazy.read_imports(__file__)

# A `.keras` file of a model that reads strings names this class.
_LAYER = "BertTextClassifierPreprocessor"
register("bert", {_LAYER: _MODULES[_LAYER]})

__all__ = [*_MODULES]
__getattr__ = lazy.create_importer(__name__, _MODULES)
