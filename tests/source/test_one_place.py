"""What only one module may name, read from the source.

Private names of TensorFlow, Keras and uvicorn have no promise of stability, so
an upgrade may remove or change them. Each is used in one module. So are the
names of the classes of models. That one place reads JSON, and that one package
defines flags, ruff checks (TID251 in pyproject.toml).
"""

import ast
import re

from model_folders import kinds
from model_folders.formats.huggingface_config import CLASS_OF_ARCHITECTURE
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    parse_source,
    parsed_sources,
    sources,
)

FOLDERS = (*PACKAGES, "tools")
# The classes of this project, of transformers and of KerasHub.
FILES_WITH_CLASSES_OF_MODELS = {
    ROOT / "model_folders/kinds.py",
    ROOT / "model_folders/formats/huggingface_config.py",
    ROOT / "model_folders/formats/kerashub_config.py",
}
CLASSES_OF_MODELS = {
    *kinds.KIND_OF_CLASS,
    *CLASS_OF_ARCHITECTURE,
}


def test_only_tables_name_the_classes_of_models():
    """Else, a new kind of model would be forgotten in a comparison."""
    wrong = [
        source.place(node)
        for source in parsed_sources(*FOLDERS)
        if source.path not in FILES_WITH_CLASSES_OF_MODELS
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and node.value in CLASSES_OF_MODELS
    ]
    check_none(wrong, "Look the class up in model_folders/kinds.py:")


_FORMATS = "model_folders/formats"
# {private name of TensorFlow or Keras: the module that uses it}
MODULE_OF_PRIVATE_NAME = {
    "_all_reduce_sum_gradients": "training/optimizers/adamw.py",
    "_compile_metrics": "modeling/keras_fit.py",
    "_flatten_layers": "modeling/layers.py",
    "_get_variable_index": "training/optimizers/adamw.py",
    "_initial_seed": "modeling/ops.py",
    "_use_weight_decay": "training/optimizers/adamw.py",
    "StatelessScope": "modeling/accelerated/graphs.py",
    "tensor_bundle_pb2": f"{_FORMATS}/tf1_weights.py",
    "trackable_object_graph_pb2": f"{_FORMATS}/object_based_weights.py",
}
# Names that uvicorn does not document. All are in one module.
UVICORN_NAMES = {
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
UVICORN_MODULE = "serving/http/timed_server.py"
# Private names of the standard library, and public ones that look private.
ALLOWED_PRIVATE_NAMES = {
    "_actions",
    "_asdict",
    "_exit",
    "_fields",
    "_make",
    "_replace",
}
PRIVATE_NAME = re.compile(
    rf"\b(?:{'|'.join(MODULE_OF_PRIVATE_NAME)}"
    r"|(?:tensorflow\.python|keras\.src)[\w.]*?\.(\w+) import)\b"
)


def test_each_private_name_has_one_module():
    """Else, an upgrade that renames one would break several places."""
    uses = {
        (match[1] or match[0], str(path.relative_to(ROOT)))
        for package in FOLDERS
        for path in sources(package)
        for match in PRIVATE_NAME.finditer(path.read_text())
    }
    check_none(
        sorted(uses ^ {*MODULE_OF_PRIVATE_NAME.items()}),
        "Use a private name only in its module of MODULE_OF_PRIVATE_NAME:",
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
    """Else, a private name could come into use unnoticed."""
    names = {
        name_and_role
        for package in FOLDERS
        for path in sources(package)
        for name_and_role in private_names(path)
    }
    ours = {name for name, is_defined in names if is_defined}
    used = {name for name, _ in names}
    check_none(
        sorted(used - ours - ALLOWED_PRIVATE_NAMES - {*MODULE_OF_PRIVATE_NAME}),
        "State the module of each in MODULE_OF_PRIVATE_NAME:",
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
    """Else, an upgrade of uvicorn could break the server in several places."""
    used = {
        (name, str(path.relative_to(ROOT)))
        for path in sources("serving")
        for name in attributes_and_functions(path)
        if name in UVICORN_NAMES
    }
    expected = {(name, UVICORN_MODULE) for name in UVICORN_NAMES}
    check_none(
        sorted(used ^ expected),
        f"Use uvicorn's undocumented names in {UVICORN_MODULE} alone:",
    )
