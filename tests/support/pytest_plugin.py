"""How pytest names, sorts and shares out the tests, which run in parallel.

`make test` runs them in several processes by pytest-xdist. tests/conftest.py
loads this plugin, so no test imports it. pytest calls these hooks by their
names:

    pytest_configure                  lets Ctrl-C stop the scripts under test
    pytest_make_parametrize_id        names the cases of a test by their values
    pytest_collection_modifyitems     starts the slowest folders first
    pytest_collection_finish          makes garbage collection cheaper
    pytest_xdist_make_scheduler       keeps the tests of a file in one process

A test asks for the fixture `made_once` to share a slow result among processes:

    @pytest.fixture(scope="session")
    def tiny(made_once):
        return made_once(make_tiny)
"""

import fcntl
import gc
import json
import pickle
import signal
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, TypeVar

import pytest

_Made = TypeVar("_Made")

# Folders of test files, slowest first. The slowest files start first, so that
# all processes end at about the same time.
_SLOWEST_FOLDERS = (
    "exporting",
    "serving",
    "scripts",
    "across_scripts",
    "training",
    "modeling",
    "recipes",
    "docs",
    "data",
)


def _folder_of(node_id: str) -> str:
    """Returns the folder of tests/ that contains a test."""
    return node_id.removeprefix("tests/").split("/")[0]


def pytest_configure() -> None:
    """Lets the scripts under test be stopped by Ctrl-C, wherever pytest runs.

    A shell's background jobs ignore SIGINT, and so do their child processes.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Returns a readable id of a container or path among the parameters.

    pytest would number them: flags0, flags1. Any other type has its usual id.
    """
    if isinstance(val, PurePath):
        return val.name
    if isinstance(val, (set, frozenset)):
        # Each process must give the same id.
        val = sorted(val, key=str)
    if not isinstance(val, (dict, list, tuple)) or not val:
        return None
    try:
        text = json.dumps(val)
    except TypeError:
        # What is in it may look different in each process.
        return None
    return text.replace('"', "").strip("{[]}")[:60]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the tests, so that the slowest folders start first."""

    def position(item: pytest.Item) -> int:
        folder = _folder_of(item.nodeid)
        if folder not in _SLOWEST_FOLDERS:
            return len(_SLOWEST_FOLDERS)
        return _SLOWEST_FOLDERS.index(folder)

    items.sort(key=position)


def pytest_collection_finish() -> None:
    """Excludes imported objects from garbage collection, which saves time.

    Most objects of a process come from imports, and are never garbage.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config,
    log: Any,  # noqa: ANN401  a private class of pytest-xdist
) -> object:
    """Runs each test file in one process, which then reuses its fixtures.

    All files of tests/exporting and tests/serving run in one process: a second
    one would export their models again.
    """
    # Without xdist, pytest does not call this hook.
    from xdist.scheduler import LoadScopeScheduling

    class FileScheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            if _folder_of(nodeid) in ("exporting", "serving"):
                return "exports"
            return nodeid.split("::")[0]

    # Keep the order of the folders. xdist would sort by the number of tests.
    config.option.loadscopereorder = False
    return FileScheduling(config, log)


@pytest.fixture(scope="session")
def made_once(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Callable[[Path], _Made]], _Made]:
    """Function (make) -> result of `make(folder)`, called in one process only.

    All processes of a test session share the result, which is pickled under the
    name of `make` and of its module. No test may change the files that `make`
    writes.
    """
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        # Each process of xdist has a folder of its own in the shared one.
        shared = shared.parent

    def make_or_read(make: Callable[[Path], _Made]) -> _Made:
        name = f"{make.__module__}.{make.__qualname__}"
        result = shared / f"{name}.pickle"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                made = make(tmp_path_factory.mktemp(make.__name__))
                partial = result.with_suffix(".partial")
                partial.write_bytes(pickle.dumps(made))
                partial.replace(result)
        shared_result: _Made = pickle.loads(result.read_bytes())
        return shared_result

    return make_or_read
