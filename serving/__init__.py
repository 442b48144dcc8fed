"""Exports models with `export`, and runs exported models with `load`.

ExportOptions: Options of an export that do not depend on the kind of the
    model.
TextModel: An exported model that accepts text.
export: Exports a model, with signatures that suit the kind of the model.
load: An exported model that accepts text.
"""

from typing import TYPE_CHECKING

from imports import lazy

if TYPE_CHECKING:
    # The names of this package, which `lazy` imports at their first use. `as`
    # tells type checkers that they are public.
    from serving.export_options import ExportOptions as ExportOptions
    from serving.exports import export as export
    from serving.text_model import TextModel as TextModel
    from serving.text_model import load as load

# {name: its module}
_MODULES = lazy.read_imports(__file__)

__all__ = [*_MODULES]
__getattr__ = lazy.create_importer(__name__, _MODULES)
