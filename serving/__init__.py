"""Exported models: SavedModels over ids and over text.

`serving.load` asks one from Python; the functions `export_...` write them.
"""

from typing import TYPE_CHECKING

from files import lazy

if TYPE_CHECKING:
    from serving.classifier import export_classifier
    from serving.features import export_encoder
    from serving.models import TextModel, load
    from serving.multiple_choice import export_multiple_choice
    from serving.ner import export_token_classifier
    from serving.pretraining import export_pretrainer
    from serving.signatures import ServingOptions
    from serving.squad import export_span_labeler

__getattr__ = lazy.on_first_use(__name__, __file__)

__all__ = [
    "ServingOptions",
    "TextModel",
    "export_classifier",
    "export_encoder",
    "export_multiple_choice",
    "export_pretrainer",
    "export_span_labeler",
    "export_token_classifier",
    "load",
]
