"""Forks processes from one with TensorFlow and the project loaded.

multiprocessing's fork server imports both once, and forks the processes, which
saves seconds of start-up for each. Tests call it through script_runner.py.

For example:

    process = PROCESSES.Process(target=function, args=[1])
"""

import multiprocessing
import os

from tests.support.paths import ROOT
from tests.support.source_files import PACKAGES, sources

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

PROCESSES = multiprocessing.get_context("forkserver")


def _project_modules() -> list[str]:
    """Returns the modules of the project that scripts import.

    Omits serving's engines, which start threads, and its server.
    """
    modules = []
    for package in PACKAGES:
        for path in sources(package):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if not {"__init__", "engines", "http"} & {*parts}:
                modules.append(".".join(parts))
    return modules


# Only import these modules: TensorFlow must not start threads in the process
# that is forked. Import gc_freeze last, because it freezes earlier imports.
PRELOADED = [
    "tensorflow",
    "keras",
    "tensorflow_text",
    "sklearn.metrics",
    "tensorflow.io",
    "tensorflow.summary",
    "tensorboard.summary.v1",
    "encodings.utf_8_sig",
    *_project_modules(),
    "tests.support.script_runner",
    "tests.support.gc_freeze",
]
PROCESSES.set_forkserver_preload(PRELOADED)
