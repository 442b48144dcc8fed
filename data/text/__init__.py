"""Converts text to WordPieces, in Python and inside a TensorFlow graph.

In Python:

    tokenization.py: `FullTokenizer`, the reference for all others, its two
        steps, `BasicTokenizer` and `WordpieceTokenizer`, and the tokenizer that
        fits a model
    characters.py: classifies and cleans characters
    token_windows.py: cuts texts to length, or into windows, and pads them
    text_lists.py: lists, arrays and tensors of texts, as lists of str

The same in a graph:

    tokenizer_layer.py: tokenizes, as `FullTokenizer` does
    normalization_graph.py: its first step, which cleans and lower-cases text
    wordpiece_graph.py: its words to WordPieces
    packing_graph.py: packs texts as inputs
    token_windows_graph.py: cuts long texts into windows, and packs these
    preprocessor.py: `BertTextClassifierPreprocessor`, all of it as one layer
    ragged.py: ragged tensors in little memory

Vocabularies:

    vocabulary_files.py: reads a `Vocabulary`, and checks that it fits a model
    casing.py: decides whether the model expects lower-cased text
    vocabulary_learning.py: learns one, or extends it

What users call:

    BertTextClassifierPreprocessor: Turns texts, or pairs of texts, into the
        inputs of a model.
    FullTokenizer: Splits text into words, then words into WordPieces.
"""

from typing import TYPE_CHECKING

from dependencies import lazy
from dependencies.registration import register_saved_classes
from model_folders.saved_classes import MODULE_OF_SAVED_CLASS

if TYPE_CHECKING:
    # The names of this package, for type checkers and editors. `as` tells them
    # that the names are public.
    from data.text.preprocessor import (
        BertTextClassifierPreprocessor as BertTextClassifierPreprocessor,
    )
    from data.text.tokenization import FullTokenizer as FullTokenizer

# {name: its module}, as in the imports above. `lazy` imports a module at the
# first use of its name.
_MODULE_OF_NAME = {
    "BertTextClassifierPreprocessor": "data.text.preprocessor",
    "FullTokenizer": "data.text.tokenization",
}

__all__ = [*_MODULE_OF_NAME]
__getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)

# A `.keras` file of a model that reads strings names the preprocessor.
register_saved_classes(MODULE_OF_SAVED_CLASS)
