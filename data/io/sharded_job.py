"""Names the files of a job, and records what determines their contents.

Until the job is finished, the folder OUTPUT.work contains a result file for
each finished task, and job.json, which records the flags and the inputs. At the
end the job writes OUTPUT.manifest.json, which also lists the shards with their
sizes and checksums.
"""

import contextlib
import glob
import os
from collections.abc import Iterable
from typing import Any

from data.io import records
from files.atomic import remove_partial, write_json
from files.json_files import read_json

# Increase this number whenever you change the code so that the records change.
_VERSION = 4


class Output:
    """The files of a job.

    Args:
        output_file: path with which the names of the shards begin.
        flags: {name: value} of the flags that determine the records.
        inputs: paths of the files that determine the records.
    """

    def __init__(
        self, output_file: str, flags: dict[str, Any], inputs: Iterable[str]
    ) -> None:
        self._output_file = output_file
        self.manifest_file = f"{output_file}.manifest.json"
        # Put "eval-" before the name, so that the pattern OUTPUT*, with which
        # users name the training shards, does not match the evaluation set.
        folder, name = os.path.split(output_file)
        self.eval_file = os.path.join(folder, f"eval-{name}")
        self.work_dir = f"{output_file}.work"
        self._begun_file = os.path.join(self.work_dir, "job.json")
        self._description: dict[str, Any] = {
            "version": _VERSION,
            "flags": flags,
            "inputs": [
                {"path": path, **records.measure_file(path)} for path in inputs
            ],
        }

    def shard_paths(self, num_shards: int) -> list[str]:
        """Returns the paths of the training shards."""
        return [
            f"{self._output_file}-{shard:05d}-of-{num_shards:05d}"
            for shard in range(num_shards)
        ]

    def find_manifest(self) -> dict[str, Any] | None:
        """Returns the manifest if the job is finished and its shards intact.

        Raises:
            ValueError: the manifest records other flags or inputs.
        """
        manifest = self._read_same(self.manifest_file)
        if manifest is None:
            return None
        # Do not use the paths in the manifest, because the user may have moved
        # the files together with the manifest.
        shards = manifest["shards"]
        paths = [*self.shard_paths(len(shards)), self.eval_file]
        entries = [*shards, *manifest.get("eval_shards", [])]
        is_intact = all(map(records.is_whole, paths, entries))
        return manifest if is_intact else None

    def _read_same(self, path: str) -> dict[str, Any] | None:
        # Reads a manifest or job.json, None if the file does not exist.
        try:
            contents = read_json(path)
        except FileNotFoundError:
            return None
        if {**contents, **self._description} == contents:
            return contents
        flags = contents.get("flags", {})
        changed = [
            f"--{name}={flags.get(name)}"
            for name, value in self._description["flags"].items()
            if flags.get(name) != value
        ]
        others = "other input files, or another version of this script"
        raise ValueError(
            f"{path} was written with {', '.join(changed) or others}; use "
            f"another --output_file, or remove {self.manifest_file} and "
            f"{self.work_dir} to start again"
        )

    def begin(self) -> None:
        """Creates OUTPUT.work with job.json, or checks them.

        Raises:
            ValueError: the work that the folder contains has other flags or
                inputs, or the folder contains files of the user.
        """
        if self._read_same(self._begun_file):
            return
        remove_partial(self._begun_file)
        if os.path.isdir(self.work_dir) and os.listdir(self.work_dir):
            raise ValueError(
                f"{self.work_dir}, the folder for unfinished work, contains "
                "files that this script did not write; use another "
                "--output_file, or move the folder"
            )
        write_json(self._begun_file, self._description)

    def finish(self, results: dict[str, Any]) -> dict[str, Any]:
        """Writes and returns the manifest, which also contains `results`."""
        manifest = {**self._description, **results}
        write_json(self.manifest_file, manifest)
        self.remove_work()
        return manifest

    def remove_work(self) -> None:
        """Removes OUTPUT.work, unless it contains a user's file."""
        if os.path.exists(self._begun_file):
            # Remove job.json last, because it shows that a job created the
            # folder. An interrupted removal can then be repeated.
            for path in glob.glob(f"{glob.escape(self.work_dir)}/task-*.json"):
                os.remove(path)
            os.remove(self._begun_file)
            with contextlib.suppress(OSError):
                os.rmdir(self.work_dir)
