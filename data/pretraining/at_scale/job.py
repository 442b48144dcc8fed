"""Describes a job and its files, finished and unfinished.

While the job is unfinished its results lie in the folder OUTPUT.work; at its
end OUTPUT.manifest.json lists the shards with their sizes and checksums.
"""

import contextlib
import dataclasses
import os
import re
from typing import Any

import google_crc32c

from data.io import text_files
from data.pretraining.at_scale.token_store import TextOptions
from data.pretraining.options import InstanceOptions
from files.atomic import write_json
from files.json_files import read_json

# Names of the files that a job writes into its folder, complete or not.
_WORK_FILE = re.compile(
    r"(job\.json|plan\.npy|store\.(json|tokens|sentences|documents)"
    r"|(block|plan|shard)-\d{5,}(\.(json|tokens|sentences|documents))?)"
    r"(\.partial-\d+)?"
)


@dataclasses.dataclass(frozen=True)
class Job:
    """Everything a task needs to know.

    Attributes:
        text: how text becomes WordPieces.
        instances: how WordPieces become instances.
        input_files: paths.
        boundary_files: for each input the file of its word boundaries, or
        empty.
        output_file: prefix of the shards' names.
        num_shards: number of shards, without the held-out one; 0 = chosen from
            the corpus size.
    """

    text: TextOptions
    instances: InstanceOptions
    input_files: tuple[str, ...]
    boundary_files: tuple[str, ...]
    output_file: str
    num_shards: int

    @property
    def work_dir(self) -> str:
        """The folder of unfinished work."""
        return f"{self.output_file}.work"

    @property
    def manifest_file(self) -> str:
        """The file that describes how the shards were made."""
        return f"{self.output_file}.manifest.json"

    @property
    def lock_file(self) -> str:
        """The file that keeps a second process from the same output."""
        return f"{self.output_file}.lock"

    @property
    def all_shards(self) -> range:
        """Numbers of the shards, and of the documents held out after them."""
        return range(self.num_shards + bool(self.instances.eval_fraction))

    def shard_path(self, shard: int) -> str:
        """Returns the path of a shard; the one after the last is held out."""
        if shard == self.num_shards:
            # Another prefix, so that no pattern matches it with the others.
            folder, name = os.path.split(self.output_file)
            return os.path.join(folder, f"eval-{name}")
        return f"{self.output_file}-{shard:05d}-of-{self.num_shards:05d}"

    def check_held_out(self) -> None:
        """Refuses an input that held-out documents would replace.

        Raises:
            ValueError: an input is the file that they are written to.
        """
        path = self.shard_path(self.num_shards)
        if not self.instances.eval_fraction or not os.path.exists(path):
            return
        for given in self._inputs:
            if os.path.exists(given) and os.path.samefile(given, path):
                raise ValueError(
                    f"{given} is an input, and the documents of "
                    f"--eval_fraction are written to {path}; give another "
                    "--output_file"
                )

    def work_path(self, name: str) -> str:
        """Returns the path of a file in the folder of unfinished work."""
        return os.path.join(self.work_dir, name)

    def describe(self) -> dict[str, Any]:
        """Returns what the output depends on, as it is in the manifest."""
        return {
            "flags": {
                **dataclasses.asdict(self.text),
                **dataclasses.asdict(self.instances),
                "num_shards": self.num_shards,
            },
            "inputs": [
                {"path": path, **measure_file(path)} for path in self._inputs
            ],
        }

    @property
    def _inputs(self) -> tuple[str, ...]:
        return (*self.input_files, *self.boundary_files, self.text.vocab_file)

    def read(self, path: str, fields: dict[str, type]) -> dict | None:
        """Returns a JSON file that this job wrote; None where there is none.

        Args:
            path: the file.
            fields: types of the fields that it must have.

        Raises:
            ValueError: it is truncated, or other JSON.
        """
        try:
            contents = read_json(path)
            for name, kind in fields.items():
                if not isinstance(contents.get(name), kind):
                    raise ValueError(
                        f"{path} was not written by this script: it has no "
                        f"{name!r} of type {kind.__name__}"
                    )
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{error}; {self._remedy}") from error
        return contents

    @property
    def _remedy(self) -> str:
        return (
            f"give another --output_file, or remove {self.manifest_file} and "
            f"{self.work_dir} to start again"
        )

    def read_manifest(self, description: dict) -> dict | None:
        """Returns the manifest; None where there is none.

        Raises:
            ValueError: it describes other work, or is not a manifest.
        """
        manifest = self.read(
            self.manifest_file,
            {"flags": dict, "inputs": list, "shards": list, "statistics": dict},
        )
        if manifest is not None:
            self._check_unchanged(self.manifest_file, manifest, description)
        return manifest

    def begin(self, description: dict) -> None:
        """Records the job in its folder, or checks that it is unchanged.

        Until the plan is complete, the number of shards may change.

        Raises:
            ValueError: the folder holds other work, or files of another
            program.
        """
        path = self.work_path("job.json")
        found = self.read(path, {"flags": dict, "inputs": list})
        if found is None:
            self._check_folder()
        else:
            begun = found["flags"].get("num_shards")
            if not os.path.exists(self.work_path("plan.npy")):
                found["flags"]["num_shards"] = self.num_shards
            self._check_unchanged(path, found, description)
            if begun != self.num_shards:
                self._remove_work("plan-")
        write_json(path, description)

    def _check_folder(self) -> None:
        """Checks that an existing work folder was made by this script."""
        names = []
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(self.work_dir)
        if any(not name.startswith("job.json.partial-") for name in names):
            raise ValueError(
                f"{self.work_dir} is where unfinished work is kept, but holds "
                "other files; give another --output_file, or move it away"
            )

    def _check_unchanged(
        self, path: str, found: dict, description: dict
    ) -> None:
        changed = [
            f"--{name}={found['flags'].get(name)}"
            for name, value in description["flags"].items()
            if found["flags"].get(name) != value
        ]
        if not changed and found["inputs"] != description["inputs"]:
            changed = [
                f"another {entry['path']}"
                for entry in description["inputs"]
                if entry not in found["inputs"]
            ] or ["more input files"]
        if changed:
            raise ValueError(
                f"{path} records work done with {', '.join(changed)}; "
                f"{self._remedy}"
            )

    def remove_work(self) -> None:
        """Removes the folder of unfinished work, except files of others."""
        if os.path.exists(self.work_path("job.json")):
            self._remove_work("")
            with contextlib.suppress(OSError):
                os.rmdir(self.work_dir)

    def _remove_work(self, prefix: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(self.work_dir)
            # job.json marks the folder as ours, so it goes last.
            for name in sorted(names, key="job.json".__eq__):
                if name.startswith(prefix) and _WORK_FILE.fullmatch(name):
                    os.remove(self.work_path(name))

    def remove_partial_shards(self) -> None:
        """Removes the partial shards that killed processes left."""
        folder, name = os.path.split(self.output_file)
        partial = re.compile(
            rf"({re.escape(name)}(-\d{{5}}-of-\d{{5}}|\.manifest\.json)"
            rf"|eval-{re.escape(name)})\.partial-\d+"
        )
        with contextlib.suppress(FileNotFoundError):
            for found in os.listdir(folder or "."):
                if partial.fullmatch(found):
                    os.remove(os.path.join(folder, found))


def measure_file(path: str) -> dict[str, Any]:
    """Returns {"bytes", "crc32c"} of a file."""
    checksum = google_crc32c.Checksum()
    with text_files.open_raw(path) as file:
        for _ in checksum.consume(file, 1 << 20):
            pass
    return {
        "bytes": text_files.size(path),
        "crc32c": checksum.hexdigest().decode(),
    }


def is_whole(path: str, entry: Any) -> bool:
    """Returns whether a file is as it was when it was measured.

    Args:
        path: the file, which may be missing.
        entry: a dict with what `measure_file` gave.
    """
    # If the size differs, it need not be read.
    if not (
        isinstance(entry, dict)
        and os.path.isfile(path)
        and os.path.getsize(path) == entry.get("bytes")
    ):
        return False
    return measure_file(path)["crc32c"] == entry.get("crc32c")
