"""Writes pretraining records in several processes, and resumes earlier work.

The output consists of several TFRecord files, the shards. Each task writes some
of the shards from some parts of the corpus (parts.py), in bounded memory. Until
the job is finished, the folder OUTPUT.work contains a result file for each
finished task, and job.json, which records the flags and the inputs. At the end
the job writes OUTPUT.manifest.json, which also lists the shards with their
sizes and checksums.
"""

import contextlib
import dataclasses
import itertools
import os
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

from absl import logging

from data.io import records, text_files
from data.pretraining import corpus_report, documents, parts, splitting
from data.pretraining.options import InstanceOptions
from files import lock, progress
from files.atomic import remove_partial, write_json
from files.json_files import read_json

MAX_SHARDS = (1 << 16) - 1
# Increase this number whenever you change the code so that the records change.
_VERSION = 4
# Default size of a shard: number of bytes of its text, times the number of
# passes over the text.
_SHARD_BYTES = 128 << 20
# Default number of shards of a small corpus. If the corpus is split into fewer
# parts (splitting.py), there is one shard for each part.
_FEW_SHARDS = 8

# Type of functions such as workers.run. They receive another function and the
# arguments of each of its calls.
RunTasks = Callable[[Callable, list[tuple]], Generator]


@dataclasses.dataclass(frozen=True)
class Job:
    """Inputs and options that determine the output of a pretraining job.

    Attributes:
        text: options for turning text into WordPieces.
        instances: options for turning WordPieces into instances.
        input_files: paths of the text files.
        output_file: path of the output, which is the prefix of the shards'
            names.
        num_shards: number of shards, not counting the shard of held-out
            documents. 0 = the size of the corpus determines the number.
    """

    text: documents.TextOptions
    instances: InstanceOptions
    input_files: tuple[str, ...]
    output_file: str
    num_shards: int

    @property
    def manifest_file(self) -> str:
        """Path of the file that describes how the shards were created."""
        return f"{self.output_file}.manifest.json"

    @property
    def _work_dir(self) -> str:
        return f"{self.output_file}.work"

    @property
    def _begun_file(self) -> str:
        return os.path.join(self._work_dir, "job.json")

    @property
    def _eval_file(self) -> str:
        # Put "eval-" before the name, so that the pattern OUTPUT*, with which
        # users name the training shards, does not match the evaluation set.
        folder, name = os.path.split(self.output_file)
        return os.path.join(folder, f"eval-{name}")

    @property
    def _inputs(self) -> tuple[str, ...]:
        return (*self.input_files, self.text.vocab_file)

    def create_shards(self, run: RunTasks) -> tuple[dict[str, Any], bool]:
        """Writes the shards and the manifest, or resumes unfinished work.

        `run` calls a function for each task, as `workers.run` does.

        Returns:
            (manifest as a dict, True if this call wrote any file).

        Raises:
            ValueError: the input contains no text, the output would replace the
                input, or an earlier command began this output with other flags
                or another input.
            OSError: a file cannot be read or written, a process was killed, or
                another process writes the same output.
        """
        # Fail before any file is written if the vocabulary cannot be read.
        documents.create_reader(self.text)
        tasks = self._create_tasks()
        self._check_inputs(tasks)
        name = f"--output_file={self.output_file}"
        with lock.hold(f"{self.output_file}.lock", name):
            description = self._describe()
            found = self._read_same(self.manifest_file, description)
            whole = self._find_whole(found)
            if found and len(whole) == _count_files(found):
                self._remove_work(tasks)
                return found, False
            if found and _count_files(found) < sum(
                len(task.shards) for task in tasks
            ):
                # The job removed empty shards earlier, and renumbered the
                # others. So write all of them again.
                found, whole = None, set()
            self._begin_work(description)
            left = [
                (task,)
                for task in tasks
                if not whole.issuperset(task.shards) and not _is_done(task)
            ]
            try:
                with contextlib.closing(run(parts.write_shards, left)) as done:
                    for _ in progress.track(done, len(left), "task", "shard"):
                        pass
                found = found or {**description, **self._combine(tasks)}
            except ValueError:
                # Remove the shards that the tasks wrote. They will not be
                # reused, because the user must change the input or a flag.
                for task in filter(_is_done, tasks):
                    for path in task.shards:
                        os.remove(path)
                self._remove_work(tasks)
                raise
            write_json(self.manifest_file, found)
            self._remove_work(tasks)
        return found, True

    def _describe(self) -> dict[str, Any]:
        flags = dataclasses.asdict(self.text)
        flags |= dataclasses.asdict(self.instances)
        return {
            "version": _VERSION,
            "flags": {**flags, "num_shards": self.num_shards},
            "inputs": [
                {"path": path, **records.measure_file(path)}
                for path in self._inputs
            ],
        }

    def _shard_paths(self, num_shards: int) -> list[str]:
        return [
            f"{self.output_file}-{shard:05d}-of-{num_shards:05d}"
            for shard in range(num_shards)
        ]

    def _create_tasks(self) -> list[parts.Task]:
        # Assigns each task parts of the corpus to read, and shards to write. If
        # documents are held out, the first task writes them. It reads all
        # parts, but tokenizes only the documents that are held out.
        numbered = [*enumerate(splitting.split_to_parts(self.input_files))]
        num_shards = self.num_shards
        if not num_shards:
            num_bytes = sum(map(text_files.size, self.input_files))
            num_bytes *= self.instances.dupe_factor
            num_shards = max(num_bytes // _SHARD_BYTES, _FEW_SHARDS)
            num_shards = min(num_shards, len(numbered), MAX_SHARDS)
        shards = self._shard_paths(num_shards)
        # There are as many tasks as parts or shards, whichever are fewer.
        number = min(len(numbered), num_shards)
        shares = list(
            zip(_share(numbered, number), _share(shards, number), strict=True)
        )
        if self.instances.eval_fraction:
            shares.insert(0, (numbered, [self._eval_file]))
        return [
            parts.Task(
                self.text,
                self.instances,
                dict(some),
                paths,
                os.path.join(self._work_dir, f"task-{task:05d}.json"),
                is_evaluation=paths == [self._eval_file],
            )
            for task, (some, paths) in enumerate(shares)
        ]

    def _check_inputs(self, tasks: list[parts.Task]) -> None:
        # Raises a ValueError if the job would overwrite an input file.
        written = [path for task in tasks for path in task.shards]
        written.append(self.manifest_file)
        places = {os.path.realpath(path): path for path in written}
        for path in map(os.path.realpath, self._inputs):
            if path in places:
                raise ValueError(
                    f"--output_file={self.output_file} would replace "
                    f"{places[path]}, which is an input; use another "
                    "--output_file"
                )

    def _read_same(
        self, path: str, description: dict[str, Any]
    ) -> dict[str, Any] | None:
        # Reads a manifest or job.json, None if the file does not exist. Raises
        # a ValueError if the file records another version of this script, or
        # other flags or inputs.
        try:
            contents = read_json(path)
        except FileNotFoundError:
            return None
        flags = contents.get("flags") or {}
        changed = [
            f"--{name}={flags.get(name)}"
            for name, value in description["flags"].items()
            if flags.get(name) != value
        ]
        if contents.get("version") != _VERSION:
            changed.append("another version of this script")
        elif contents.get("inputs") != description["inputs"]:
            changed += [
                f"another {entry['path']}"
                for entry in description["inputs"]
                if entry not in contents["inputs"]
            ] or ["more input files"]
        if changed:
            raise ValueError(
                f"{path} was written with {', '.join(changed)}; use another "
                f"--output_file, or remove {self.manifest_file} and "
                f"{self._work_dir} to start again"
            )
        return contents

    def _find_whole(self, manifest: dict[str, Any] | None) -> set[str]:
        # Returns the paths of the manifest's files that are intact.
        if manifest is None:
            return set()
        # Do not use the paths in the manifest, because the user may have moved
        # the files together with the manifest.
        shards = manifest["shards"]
        paths = [*self._shard_paths(len(shards)), self._eval_file]
        entries = [*shards, *manifest.get("eval_shards", [])]
        return {
            path
            for path, entry in zip(paths, entries, strict=False)
            if records.is_whole(path, entry)
        }

    def _begin_work(self, description: dict[str, Any]) -> None:
        # Creates the folder OUTPUT.work with job.json, or checks them.
        if self._read_same(self._begun_file, description):
            return
        remove_partial(self._begun_file)
        if os.path.isdir(self._work_dir) and os.listdir(self._work_dir):
            raise ValueError(
                f"{self._work_dir}, the folder for unfinished work, contains "
                "files that this script did not write; use another "
                "--output_file, or move the folder"
            )
        write_json(self._begun_file, description)

    def _remove_work(self, tasks: list[parts.Task]) -> None:
        # Removes the folder OUTPUT.work, unless it contains a user's file.
        if os.path.exists(self._begun_file):
            # Remove job.json last, because it shows that a job created the
            # folder. An interrupted removal can then be repeated.
            for path in [*(x.result_file for x in tasks), self._begun_file]:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(path)
            with contextlib.suppress(OSError):
                os.rmdir(self._work_dir)

    def _combine(self, tasks: list[parts.Task]) -> dict[str, Any]:
        # Combines the tasks' result files for the manifest. Removes empty
        # shards. Raises a ValueError if the input contains no text, or if all
        # documents or none are held out.
        results = [read_json(task.result_file) for task in tasks]
        counts: Counter[str] = Counter()
        for result in results:
            counts.update(result["counts"])
        corpus_report.log(counts, self.input_files)
        found: dict[str, Any] = {}
        if fraction := self.instances.eval_fraction:
            found["eval_shards"] = results.pop(0)["shards"]
            num_held_out = found["eval_shards"][0]["num_records"]
            if not num_held_out or not counts["num_instances"]:
                raise ValueError(
                    f"--eval_fraction={fraction} holds out "
                    f"{'all' if num_held_out else 'none'} of the "
                    f"{counts['num_documents']} documents; set another "
                    "fraction, or put blank lines between documents so that "
                    "the input has more of them"
                )
        shards = [entry for result in results for entry in result["shards"]]
        kept = [entry for entry in shards if entry["num_records"]]
        for entry in shards:
            if not entry["num_records"]:
                os.remove(entry["path"])
        if len(kept) < len(shards):
            for entry, path in zip(
                kept, self._shard_paths(len(kept)), strict=True
            ):
                os.replace(entry["path"], path)
                entry["path"] = path
            if self.num_shards:
                logging.warning(
                    f"--num_shards={len(shards)}: wrote only {len(kept)} "
                    "files, because the input is too small for more files"
                )
        return {**found, "corpus": dict(counts), "shards": kept}


def _share(items: list, number: int) -> list[list]:
    # Distributes items evenly over lists.
    borders = [len(items) * task // number for task in range(number + 1)]
    return [items[first:end] for first, end in itertools.pairwise(borders)]


def _count_files(manifest: dict[str, Any]) -> int:
    return len(manifest["shards"]) + len(manifest.get("eval_shards", []))


def _is_done(task: parts.Task) -> bool:
    # The result file appears when the task is finished.
    if not os.path.exists(task.result_file):
        return False
    entries = read_json(task.result_file)["shards"]
    return all(map(records.is_whole, task.shards, entries))
