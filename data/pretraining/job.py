"""Writes pretraining records in several processes, and resumes earlier work.

The output consists of several TFRecord files, the shards. Each task writes some
of the shards from some parts of the corpus (parts.py), in bounded memory. Until
the job is finished, the folder OUTPUT.work contains a result file for each
finished task, and job.json, which records the flags and the inputs. At the end
the job writes OUTPUT.manifest.json, which also lists the shards. job.json and
the manifest contain the sizes and checksums of the files that they list.
"""

import contextlib
import dataclasses
import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from typing import Any

from absl import logging

from data.io import records, text_files
from data.pretraining import (
    corpus_report,
    documents,
    parts,
    splitting,
)
from data.pretraining.options import InstanceOptions
from files import lock, progress
from files.atomic import write_json
from files.json_files import read_json

MAX_SHARDS = (1 << 16) - 1
# Increase this number whenever you change the code so that the records change.
_VERSION = 3
# Default size of a shard: number of bytes of its text, times the number of
# passes over the text.
_SHARD_BYTES = 128 << 20
# Default number of shards of a small corpus. If the corpus is split into fewer
# parts (splitting.py), there is one shard for each part.
_FEW_SHARDS = 8
# What follows the name of the output in the names of the shards.
_SHARD = re.compile(r"-\d{5}-of-\d{5}")
# Names of the files in OUTPUT.work, complete or partly written.
_WORK_FILE = re.compile(r"(job\.json|task-\d{5,}\.(json|eval))(\.partial-\d+)?")

# Type of functions such as workers.run. They receive another function and a
# list of tasks (name, arguments), and call it with the arguments of each task.
RunTasks = Callable[[Callable, list[tuple[str, tuple]]], Generator]


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
        documents.create_reader(self.text)
        self._check_inputs()
        tasks = self._create_tasks()
        name = f"--output_file={self.output_file}"
        with lock.hold(f"{self.output_file}.lock", name):
            description = {
                "version": _VERSION,
                "flags": {
                    **dataclasses.asdict(self.text),
                    **dataclasses.asdict(self.instances),
                    "num_shards": self.num_shards,
                },
                "inputs": [
                    {"path": path, **records.measure_file(path)}
                    for path in self._inputs
                ],
            }
            found, whole = self._read(description)
            if found is not None and all(whole.values()):
                self._remove_work()
                return found, False
            num_shards = sum(len(task.shards) for task in tasks)
            if found is not None and (
                not whole.get(self._eval_file, True)
                or len(found["shards"]) != num_shards
            ):
                # The evaluation set is damaged, or the job removed empty shards
                # earlier. In both cases `_combine` needs the result files of
                # all tasks, so run all tasks again.
                found, whole = None, {}
            try:
                self._run_tasks(tasks, whole, run)
                if found is None:
                    found = self._combine(description, tasks)
            except ValueError:
                # Remove the shards that the tasks wrote. They will not be
                # reused, because the user must change the input or a flag.
                for task in tasks:
                    if os.path.exists(task.result_file):
                        for path in task.shards:
                            with contextlib.suppress(FileNotFoundError):
                                os.remove(path)
                self._remove_work()
                raise
            write_json(self.manifest_file, found)
            self._remove_work()
        return found, True

    def _check_inputs(self) -> None:
        """Raises a ValueError if the job could overwrite an input file."""
        written = {self.manifest_file}
        if self.instances.eval_fraction:
            written.add(self._eval_file)
        for path in glob.iglob(f"{glob.escape(self.output_file)}-*"):
            if _SHARD.fullmatch(path.removeprefix(self.output_file)):
                written.add(path)
        for path in filter(os.path.exists, written):
            for given in filter(os.path.exists, self._inputs):
                if os.path.samefile(given, path):
                    raise ValueError(
                        f"--output_file={self.output_file} would replace "
                        f"{path}, which is an input; use another --output_file"
                    )

    def _run_tasks(
        self, tasks: list[parts.Task], whole: Mapping[str, bool], run: RunTasks
    ) -> None:
        """Runs the tasks that are unfinished or have damaged shards.

        `whole` is {path of a shard: True if it is intact}.
        """
        num_shards = sum(len(task.shards) for task in tasks)
        left, end = [], 0
        for task in tasks:
            first, end = end, end + len(task.shards)
            name = f"shard {first}"
            if end > first + 1:
                name = f"shards {first}-{end - 1}"
            if not all(map(whole.get, task.shards)) and not parts.is_done(task):
                left.append((f"{name} of {num_shards}", (task,)))
        with contextlib.closing(run(parts.write_shards, left)) as done:
            for _ in progress.track(done, len(left), "task", "shard"):
                pass

    def _read(
        self, description: dict[str, Any]
    ) -> tuple[dict[str, Any] | None, dict[str, bool]]:
        """Reads the manifest, and creates or checks the folder OUTPUT.work.

        Returns (manifest, {path of a file that the manifest lists: True if the
        file is intact}). The manifest is None if no earlier run finished the
        job. Raises a ValueError if the flags, the inputs or the version of the
        script have changed.
        """
        path = os.path.join(self._work_dir, "job.json")
        try:
            found = _read_manifest(
                self.manifest_file,
                {"shards": list, "corpus": dict},
                description,
            )
            whole = {}
            if found is not None:
                shards = found["shards"]
                # Do not use the paths in the manifest, because the user may
                # have moved the files together with the manifest.
                paths = [*self._shard_paths(len(shards)), self._eval_file]
                entries = shards + found.get("eval_shards", [])
                are_whole = map(records.is_whole, paths, entries)
                whole = dict(zip(paths, are_whole, strict=False))
                if all(whole.values()):
                    return found, whole
            begun = _read_manifest(path, {}, description)
            for file, contents in (self.manifest_file, found), (path, begun):
                if contents and contents.get("version") != _VERSION:
                    raise ValueError(
                        f"{file} was written by a different version of this "
                        "script, which writes other records"
                    )
        except ValueError as error:
            raise ValueError(
                f"{error}; use another --output_file, or remove "
                f"{self.manifest_file} and {self._work_dir} to start again"
            ) from error
        names = []
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(self._work_dir)
        is_ours = begun is not None or all(
            name.startswith("job.json.partial-") for name in names
        )
        if not is_ours:
            raise ValueError(
                f"{self._work_dir}, the folder for unfinished work, contains "
                "files that this script did not write; use another "
                "--output_file, or move the folder"
            )
        write_json(path, description)
        return found, whole

    def _shard_paths(self, num_shards: int) -> list[str]:
        return [
            f"{self.output_file}-{shard:05d}-of-{num_shards:05d}"
            for shard in range(num_shards)
        ]

    def _create_tasks(self) -> list[parts.Task]:
        """Assigns each task parts of the corpus to read, and shards to write.

        Raises a ValueError if a task would get more than MAX_TASK_SHARDS
        shards.
        """
        blocks = splitting.split_to_parts(self.input_files)
        num_shards = self.num_shards
        if not num_shards:
            num_bytes = sum(map(text_files.size, self.input_files))
            num_bytes *= self.instances.dupe_factor
            num_shards = max(num_bytes // _SHARD_BYTES, _FEW_SHARDS)
            num_shards = min(num_shards, len(blocks), MAX_SHARDS)
        if num_shards > (most := len(blocks) * parts.MAX_TASK_SHARDS):
            raise ValueError(
                f"--num_shards={num_shards} is too many for an input of this "
                f"size; set at most {most}"
            )
        lenders = splitting.find_lenders(blocks)
        return [
            parts.Task(
                self.text,
                self.instances,
                numbered,
                [lenders[part] for part, _ in numbered],
                shards,
                os.path.join(self._work_dir, f"task-{number:05d}.json"),
                os.path.join(self._work_dir, f"task-{number:05d}.eval"),
            )
            for number, (numbered, shards) in enumerate(
                splitting.share_out(blocks, self._shard_paths(num_shards))
            )
        ]

    def _combine(
        self, description: dict[str, Any], tasks: list[parts.Task]
    ) -> dict[str, Any]:
        """Combines the tasks' result files into the manifest, and returns it.

        Also writes the evaluation set, and removes empty shards. `description`
        contains the flags and inputs of the job. Raises a ValueError if the
        input contains no text, or all documents are held out.
        """
        counts: Counter[str] = Counter()
        shards = []
        for task in tasks:
            result = read_json(task.result_file)
            counts.update(result["counts"])
            shards += result["shards"]
        corpus_report.log(counts, self.input_files)
        if dropped := counts["num_dropped_bytes"]:
            logging.warning("dropped %d bytes that are not UTF-8", dropped)
        if not counts["num_instances"]:
            raise ValueError(
                f"--eval_fraction={self.instances.eval_fraction} holds out all "
                f"{counts['num_documents']} documents, so the training set "
                "would be empty; lower the fraction, or put blank lines "
                "between documents so that the input has more of them"
            )
        found = {**description, "corpus": dict(counts)}
        if self.instances.eval_fraction:
            found["eval_shards"] = parts.write_held_out(
                self._eval_file,
                [task.held_out_file for task in tasks],
                self.text,
                self.instances,
            )
        kept = [entry for entry in shards if entry["num_records"]]
        if len(kept) < len(shards):
            # Remove empty shards, and renumber the others.
            paths = self._shard_paths(len(kept))
            for entry, path in zip(kept, paths, strict=True):
                os.replace(entry["path"], path)
                entry["path"] = path
            for entry in shards:
                if not entry["num_records"]:
                    os.remove(entry["path"])
            if self.num_shards:
                logging.warning(
                    f"--num_shards={len(shards)}: wrote only {len(kept)} "
                    "files, because the input is too small for more files"
                )
        return {**found, "shards": kept}

    def _remove_work(self) -> None:
        """Removes the folder OUTPUT.work, unless it contains a user's file."""
        if not os.path.exists(os.path.join(self._work_dir, "job.json")):
            return
        # Remove job.json last, because it shows that a job created the folder.
        # An interrupted removal can then be repeated.
        for name in sorted(os.listdir(self._work_dir), key="job.json".__eq__):
            if _WORK_FILE.fullmatch(name):
                os.remove(os.path.join(self._work_dir, name))
        with contextlib.suppress(OSError):
            os.rmdir(self._work_dir)


def _read_manifest(
    path: str, fields: Mapping[str, type], description: dict[str, Any]
) -> dict[str, Any] | None:
    """Reads a manifest or job.json. Returns None if the file does not exist.

    `fields` is {name: type} of required fields, in addition to `flags` and
    `inputs`. `description` contains the flags and inputs of this command.

    Raises a ValueError if the file records other flags or inputs, or is not a
    manifest.
    """
    try:
        contents = read_json(path)
    except FileNotFoundError:
        return None
    for name, kind in {"flags": dict, "inputs": list, **fields}.items():
        if not isinstance(contents.get(name), kind):
            raise ValueError(
                f"{path} was not written by this script: it contains no "
                f"field {name!r} of type {kind.__name__}"
            )
    flags, inputs = contents["flags"], contents["inputs"]
    changed = [
        f"--{name}={flags.get(name)}"
        for name, value in description["flags"].items()
        if flags.get(name) != value
    ]
    if not changed and inputs != description["inputs"]:
        changed = [
            f"another {entry['path']}"
            for entry in description["inputs"]
            if entry not in inputs
        ] or ["more input files"]
    if changed:
        raise ValueError(f"{path} was written with {', '.join(changed)}")
    return contents
