"""Private names of TensorFlow and Keras, each used in one module.

They have no promise of stability, so an upgrade may remove or change them.
"""

import re

from tests.support.golden import ROOT
from tests.support.source_files import PACKAGES, sources

MODULES = {
    "_flatten_layers": "modeling/layers.py",
    "StatelessScope": "modeling/accelerated/tracing.py",
    "_all_reduce_sum_gradients": "training/optimizers/adamw.py",
    "tensor_bundle_pb2": "modeling/checkpoints/bundle_index.py",
    "trackable_object_graph_pb2": "modeling/checkpoints/object_entries.py",
}
PRIVATE = re.compile(
    r"\b(?:_flatten_layers|_all_reduce_sum_gradients"
    r"|StatelessScope|tensor_bundle_pb2|trackable_object_graph_pb2"
    r"|(?:tensorflow\.python|keras\.src)[\w.]*?\.(\w+) import)\b"
)


def test_each_private_name_has_one_module():
    uses = {
        (match[1] or match[0], str(path.relative_to(ROOT)))
        for package in PACKAGES
        for path in sources(package)
        for match in PRIVATE.finditer(path.read_text())
    }
    assert sorted(uses) == sorted(MODULES.items())
