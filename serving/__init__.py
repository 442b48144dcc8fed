"""Exports models with `export`, and runs exported models with `load`.

What users call:

    ExportOptions: Options of an export that do not depend on the kind of the
        model.
    TextModel: An exported model that accepts text.
    export: Exports a model, with signatures that suit the kind of the model.
    load: An exported model that accepts text.

What writes an export:

    exports.py: `export`, which chooses what the kind of a model needs
    export_options.py: its options
    formats/: writes a SavedModel, LiteRT and ONNX
    signatures/: the tasks of a model in a graph
    head_outputs.py: the names of what an exported head returns
    checksums.py: tells the files of one export from those of another

What runs it and answers with it:

    engines/: runs the network in a runtime, arrays in, arrays out
    prepared_model.py: an engine with a tokenizer
    tasks/: requests to inputs, outputs to answers
    text_model.py: `load` and `TextModel`, an export as Python calls it
    task_methods.py: the methods of `TextModel`
    model_cache.py: loads a model once in a process

What predict.py and serve.py add:

    serving_flags.py: the flags that classes of this package read
    requests.py: reads requests from JSON, or from texts in an argument
    request_items.py: reads requests from files
    batch_prediction.py: answers the requests of a file
    answers/: writes the answers, as JSON lines, CSV or npy
    bulk/: answers large inputs, in any processes
    server_queue.py: forms batches of the requests to a model
    request_limits.py: checks the size and the texts of a request
    http_errors.py: the errors of the server, each of which is a reply
    openapi.py: what openapi.json says
    server.py: requests of HTTP, and their replies
    server_process.py: the process, from loading to SIGTERM
    uvicorn_server.py: what uvicorn does not document
    page/: the page that the server shows in a browser
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
