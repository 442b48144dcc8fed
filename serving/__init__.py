"""Runs exported models with `load`.

What users call:

    TextModel: An exported model that accepts text.
    load: Loads an exported model.

`exporting.export` writes the exports.

To call an export from Python. Read the first of these modules first:

    text_model.py: `load`, and `TextModel` with a method for each text task
    model_cache.py: loads a model once in a process, also from pickles
    text_tasks/: converts requests to inputs, and outputs to replies
    engines/: loads and runs the network, arrays in, arrays out

To call an export in other ways, with the modules above:

    predict/: replies to the requests of files and pipes, for predict.py
    http/: replies to requests over HTTP, for serve.py

Each of these objects contains the next, and has one job of its own:

    ModelWorker   queues the calls of clients, and computes them in a thread
    TextModel     loads an export, and has a method for each text task
    LoadedExport  holds the tokenizer, the lengths and the head
    Engine        runs the network, arrays in and arrays out
"""

from typing import TYPE_CHECKING

from dependencies import lazy

if TYPE_CHECKING:
    # The names of this package, for type checkers and editors. `as` tells them
    # that the names are public.
    from serving.text_model import TextModel as TextModel
    from serving.text_model import load as load

# {name: its module}, as in the imports above. `lazy` imports a module at the
# first use of its name.
_MODULE_OF_NAME = {
    "TextModel": "serving.text_model",
    "load": "serving.text_model",
}

__all__ = [*_MODULE_OF_NAME]
__getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)
