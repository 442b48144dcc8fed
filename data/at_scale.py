"""Pretraining records at any scale: bounded memory, many processes, resume.

Three stages, each a list of tasks that depend on nothing but the input and
the options, so that the output is the same bytes however they are run:

    blocks of text -> token store       (token_store.py)
    documents      -> plan of instances (instance_plan.py)
    shards         -> TFRecord files    (shards.py)

A task that is done leaves a JSON file in the work directory, OUTPUT.work, and
is not done again. The directory is removed at the end.
"""

import dataclasses
import functools
import glob
import itertools
import os
import shutil

import google_crc32c
import numpy as np

from data import (
    corpus_report,
    files,
    instance_plan,
    shards,
    token_store,
    tokenization,
)
from data.instance_options import InstanceOptions
from files.atomic import atomic_open

# Without --num_shards a shard gets about so many WordPieces, a quarter of a
# million instances of 128.
_SHARD_TOKENS = 32 << 20
# Eight at least, for processes to share, if each gets a few hundred.
_LEAST_SHARDS = 8
_LEAST_SHARD_TOKENS = 64 << 10
MAX_SHARDS = 1 << 16


@dataclasses.dataclass(frozen=True)
class Job:
    """All that a task needs to know.

    Attributes:
        text: token_store.TextOptions.
        instances: InstanceOptions.
        input_files: paths.
        boundary_files: for each the path of its word boundaries, or nothing.
        output_file: what the shards' names begin with.
        num_shards: their number; 0 = by the size of the corpus.
    """

    text: token_store.TextOptions
    instances: InstanceOptions
    input_files: tuple
    boundary_files: tuple
    output_file: str
    num_shards: int

    @property
    def work_dir(self):
        """Where unfinished work is kept."""
        return f"{self.output_file}.work"

    @property
    def manifest_file(self):
        """The file that tells how the shards were made."""
        return f"{self.output_file}.manifest.json"

    def shard_path(self, shard):
        """The path of a shard."""
        return f"{self.output_file}-{shard:05d}-of-{self.num_shards:05d}"

    def work_path(self, name):
        """The path of a file in the work directory."""
        return os.path.join(self.work_dir, name)

    def describe(self):
        """What the output depends on, as the manifest tells it."""
        inputs = (*self.input_files, *self.boundary_files, self.text.vocab_file)
        return {
            "flags": {
                **dataclasses.asdict(self.text),
                **dataclasses.asdict(self.instances),
                "num_shards": self.num_shards,
            },
            "inputs": [
                {"path": path, "bytes": files.size(path), "crc32c": _crc(path)}
                for path in inputs
            ],
        }


def create_shards(job, executor, progress, report):
    """Makes the shards and the manifest, or what is left to make of them.

    Args:
        job: Job.
        executor: has `run`, see workers.WorkerPool.
        progress: wraps an iteration: progress(iterable, total, label).
        report: called with each line of the corpus report, before the long
            work, and whether it is a warning.

    Returns:
        (the manifest, a dict; whether anything was left to make).

    Raises:
        ValueError: the input holds no text, or the output was begun with
            other flags or input.
        OSError: a file cannot be read or written, a process was killed.
    """
    for path in glob.glob(f"{glob.escape(job.output_file)}-*.partial-*"):
        os.remove(path)  # of processes that were killed
    description = job.describe()
    manifest = _check_unchanged(job, job.manifest_file, description)
    if manifest and all(
        os.path.exists(shard["path"]) for shard in manifest["shards"]
    ):
        return manifest, False
    _check_unchanged(job, job.work_path("job.json"), description)
    token_store.write_json(job.work_path("job.json"), description)

    run = functools.partial(_run_stage, executor, progress)
    corpus = _create_store(job, run)
    for line, is_warning in corpus_report.lines(corpus):
        report(line, is_warning)
    job = _with_num_shards(job, corpus["num_tokens"])
    ranges = instance_plan.document_ranges(_open_store(job))
    passes = range(job.instances.dupe_factor)
    plans = run(
        job,
        "plan",
        [(job, *each) for each in itertools.product(passes, ranges)],
    )
    ends = np.array([plan.pop("shard_ends") for plan in plans])
    if not np.diff(ends.sum(0), prepend=0).all():
        raise ValueError(
            f"--num_shards={job.num_shards} leaves a shard empty, with "
            f"{ends[:, -1].sum()} instances in all; give fewer"
        )
    with atomic_open(job.work_path("plan.npy")) as file:
        np.save(file, ends)
    _forget_lost_shards(job)
    made = run(job, "shard", [(job, shard) for shard in range(job.num_shards)])
    manifest = {
        **description,
        "corpus": corpus,
        "statistics": corpus_report.statistics(
            plans, made, job.instances.max_seq_length
        ),
        "shards": [
            {"path": job.shard_path(shard), "num_records": m["num_instances"]}
            for shard, m in enumerate(made)
        ],
    }
    token_store.write_json(job.manifest_file, manifest)
    shutil.rmtree(job.work_dir)
    return manifest, True


def _run_stage(executor, progress, job, stage, tasks):
    """Does what is left of a stage's tasks; returns the results of all."""
    paths = [
        job.work_path(f"{stage}-{number:05d}") for number in range(len(tasks))
    ]
    left = [
        (f"{stage} {number} of {len(tasks)}", (stage, path, arguments))
        for number, (path, arguments) in enumerate(
            zip(paths, tasks, strict=True)
        )
        if not os.path.exists(f"{path}.json")
    ]
    for _ in progress(executor.run(_run_task, left), len(left), stage):
        pass
    return [token_store.read_json(f"{path}.json") for path in paths]


def _run_task(stage, path, arguments):
    """Does one task, and leaves its result."""
    function = {"block": _tokenize, "plan": _plan, "shard": _write_shard}[stage]
    token_store.write_json(f"{path}.json", function(path, *arguments))


def _tokenize(path, job, block):
    return token_store.tokenize_block(job.text, block, path)


def _plan(path, job, duplication, documents):
    return instance_plan.write_plan(
        job.instances,
        _open_store(job),
        job.num_shards,
        duplication,
        documents,
        path,
    )


def _write_shard(unused_path, job, shard):
    ends = np.load(job.work_path("plan.npy"), mmap_mode="r")
    rows = np.concatenate(
        [
            instance_plan.read_plan(
                job.work_path(f"plan-{number:05d}"), ends[number], shard
            )
            for number in range(len(ends))
        ]
    )
    return shards.write_shard(
        job.instances,
        _open_store(job),
        _load_vocab(job.text.vocab_file),
        rows,
        shard,
        job.shard_path(shard),
    )


_load_vocab = functools.lru_cache(maxsize=1)(tokenization.load_vocab)


def _open_store(job):
    path = job.work_path("store")
    num_ids = len(_load_vocab(job.text.vocab_file))
    return _open_store_once(path, num_ids, os.stat(f"{path}.tokens").st_mtime)


@functools.lru_cache(maxsize=1)
def _open_store_once(path, num_ids, unused_time):
    return token_store.TokenStore(path, num_ids)


def _create_store(job, run):
    """Tokenizes the input, where that is not done; returns its counts."""
    corpus = token_store.read_json(job.work_path("store.json"))
    if corpus is None:
        blocks = token_store.split_to_blocks(
            job.input_files, job.boundary_files
        )
        counts = run(job, "block", [(job, block) for block in blocks])
        corpus = {
            name: sum(count[name] for count in counts)
            for name in (*token_store.COUNTS, "num_dropped_bytes")
        }
        if not corpus["num_documents"]:
            raise ValueError(
                f"no text in the input: {', '.join(job.input_files)}; give "
                "files with one sentence a line and blank lines between "
                "documents"
            )
        parts = [
            (job.work_path(f"block-{number:05d}"), count)
            for number, count in enumerate(counts)
        ]
        token_store.merge(parts, job.work_path("store"))
        token_store.write_json(job.work_path("store.json"), corpus)
        token_store.remove_parts(parts)
    return corpus


def _with_num_shards(job, num_tokens):
    if job.num_shards:
        return job
    num_tokens *= job.instances.dupe_factor
    least = min(_LEAST_SHARDS, num_tokens // _LEAST_SHARD_TOKENS)
    number = min(max(num_tokens // _SHARD_TOKENS, least, 1), MAX_SHARDS)
    return dataclasses.replace(job, num_shards=number)


def _forget_lost_shards(job):
    """Has shards made again that were removed since."""
    for shard in range(job.num_shards):
        result = job.work_path(f"shard-{shard:05d}.json")
        if os.path.exists(result) and not os.path.exists(job.shard_path(shard)):
            os.remove(result)


def _check_unchanged(job, path, description):
    """Returns what `path` tells, if it was written for the same work."""
    found = token_store.read_json(path)
    if found is None:
        return None
    changed = [
        f"--{name}={found['flags'].get(name)}"
        for name, value in description["flags"].items()
        if found["flags"].get(name) != value
    ]
    if not changed and found["inputs"] != description["inputs"]:
        before = {entry["path"]: entry for entry in found["inputs"]}
        changed = [
            f"another {entry['path']}"
            for entry in description["inputs"]
            if before.get(entry["path"]) != entry
        ] or ["more input files"]
    if changed:
        raise ValueError(
            f"{path} tells of work done with {', '.join(changed)}; give "
            f"another --output_file, or remove {job.manifest_file} and "
            f"{job.work_dir} to begin anew"
        )
    return found


def _crc(path):
    checksum = google_crc32c.Checksum()
    with files.open_raw(path) as file:
        for _ in checksum.consume(file, 1 << 20):
            pass
    return checksum.hexdigest().decode()
