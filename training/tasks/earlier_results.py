"""Warns of an earlier run's results that a run does not overwrite.

A run without --version_2_with_negative writes no null_odds.json; an earlier
run's would be mistaken for part of the new answers. It is kept, since it could
be anyone's, and the log names it.
"""

import os
import re
from pathlib import Path

from absl import logging

# Files that prediction may write, depending on flags and data.
_RESULTS = re.compile(
    r"null_odds\.json|report\.html|test_eval_results.*\.txt"
    r"|test_results.*\.tsv|(test_|nbest_)?predictions.*\.(json|jsonl|txt)"
)


class EarlierResults:
    """Records the results in a folder before a run predicts.

    Args:
        folder: folder of the run.
        others: names of further files that prediction may write.
    """

    def __init__(
        self, folder: str | os.PathLike[str], others: tuple[str, ...] = ()
    ) -> None:
        self._folder, self._others = Path(folder), others
        self._before = self._look()

    def _look(self) -> dict[str, tuple[int, int]]:
        """Returns, by name, what changes when a file is rewritten."""
        if not self._folder.is_dir():
            return {}
        found = {}
        for file in self._folder.iterdir():
            if _RESULTS.fullmatch(file.name) or file.name in self._others:
                status = file.stat()
                found[file.name] = status.st_ino, status.st_mtime_ns
        return found

    def warn(self) -> None:
        """Logs those that the run has not rewritten."""
        left = sorted(self._before.items() & self._look().items())
        if left:
            logging.warning(
                "%s in %s are left over from an earlier run; move or remove "
                "them.",
                ", ".join(name for name, _ in left),
                self._folder,
            )
