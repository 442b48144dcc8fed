"""Private names of TensorFlow, Keras and uvicorn, each used in one module.

They have no promise of stability, so an upgrade may remove or change them.
"""

import ast
import re

from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    parse_source,
    sources,
)

_FORMATS = "model_folders/formats"
MODULES = {
    "_all_reduce_sum_gradients": "training/optimizers/adamw.py",
    "_compile_metrics": "modeling/keras_fit.py",
    "_flatten_layers": "modeling/layers.py",
    "_get_variable_index": "training/optimizers/adamw.py",
    "_initial_seed": "modeling/ops.py",
    "StatelessScope": "modeling/accelerated/tracing.py",
    "tensor_bundle_pb2": f"{_FORMATS}/tf1.py",
    "trackable_object_graph_pb2": f"{_FORMATS}/object_based/weights.py",
}
# Names that uvicorn does not document. All are in one module.
OF_UVICORN = {
    "H11Protocol",
    "cycle",
    "force_exit",
    "handle_exit",
    "http_protocol_class",
    "lifespan",
    "more_body",
    "on_tick",
    "response_complete",
    "server_state",
    "servers",
    "should_exit",
}
UVICORN_MODULE = "serving/http/uvicorn_server.py"
# Private names of the standard library, and public ones that look private.
OTHERS = {"_actions", "_asdict", "_exit", "_fields", "_make"}
PRIVATE = re.compile(
    rf"\b(?:{'|'.join(MODULES)}"
    r"|(?:tensorflow\.python|keras\.src)[\w.]*?\.(\w+) import)\b"
)


def test_each_private_name_has_one_module():
    uses = {
        (match[1] or match[0], str(path.relative_to(ROOT)))
        for package in (*PACKAGES, "tools")
        for path in sources(package)
        for match in PRIVATE.finditer(path.read_text())
    }
    check_none(
        sorted(uses ^ {*MODULES.items()}),
        "A private name is used in the one module that MODULES states:",
    )


def private_names(path):
    """Yields (name, whether it is defined) for each place of a name in a file.

    Uses are only of private attributes.
    """
    for node in ast.walk(parse_source(path).tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name, True
            case ast.Name(id=name, ctx=ast.Store()):
                yield name, True
            case ast.Attribute(attr=name, ctx=context):
                if name.startswith("_") and not name.startswith("__"):
                    yield name, isinstance(context, ast.Store)


def test_each_private_name_that_is_not_ours_is_listed():
    names = {
        name_and_role
        for package in (*PACKAGES, "tools")
        for path in sources(package)
        for name_and_role in private_names(path)
    }
    ours = {name for name, is_defined in names if is_defined}
    used = {name for name, _ in names}
    check_none(
        sorted(used - ours - OTHERS - {*MODULES}),
        "State in MODULES which module uses a private name of others:",
    )


def attributes_and_functions(path):
    """Yields the attributes, imports and functions of a file."""
    for node in ast.walk(parse_source(path).tree):
        match node:
            case ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name


def test_one_module_uses_the_undocumented_names_of_uvicorn():
    used = {
        (name, str(path.relative_to(ROOT)))
        for path in sources("serving")
        for name in attributes_and_functions(path)
        if name in OF_UVICORN
    }
    expected = {(name, UVICORN_MODULE) for name in OF_UVICORN}
    check_none(
        sorted(used ^ expected),
        f"Use uvicorn's undocumented names in {UVICORN_MODULE} alone:",
    )
