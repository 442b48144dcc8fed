"""Pretraining records at any scale: bounded memory, many processes, resume.

Three stages, each a list of tasks that depend on nothing but the input and
the options, so that the output is the same bytes however they are run:

    blocks of text -> token store       (token_store.py)
    documents      -> plan of instances (instance_plan.py)
    shards         -> TFRecord files    (shards.py)

A finished task leaves a JSON file in the work directory, OUTPUT.work, and is
not repeated. The directory is removed at the end.
"""

import contextlib
import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from data.pretraining import corpus_report
from data.pretraining.at_scale import instance_plan, shards, token_store
from data.pretraining.at_scale.job import Job, is_whole, measure_file
from data.text import tokenization
from files import locks
from files.atomic import atomic_open, write_json

# WordPieces in a shard without --num_shards: a quarter of a million instances
# of 128.
_SHARD_TOKENS = 32 << 20
# At least eight, so that processes can share them, if each gets a few hundred
# instances.
_LEAST_SHARDS = 8
_LEAST_SHARD_TOKENS = 64 << 10
MAX_SHARDS = (1 << 16) - 1

Progress = Callable[[Iterable, int, str], Iterable]
# Runs the remaining tasks of a stage, and returns the results of all.
RunTasks = Callable[[Job, str, list[tuple]], list]


class Executor(contextlib.AbstractContextManager, Protocol):
    """Runs tasks; see workers.WorkerPool."""

    def run(
        self, function: Callable, tasks: list[tuple[str, tuple]]
    ) -> Iterator[tuple[str, Any]]:
        """Calls a function for each (name, arguments)."""


def create_shards(
    job: Job,
    executor: Executor,
    progress: Progress,
    report: Callable[[str, bool], None],
) -> tuple[dict[str, Any], bool]:
    """Makes the shards and the manifest, resuming unfinished work.

    Args:
        job: Job.
        executor: has `run`, see workers.WorkerPool.
        progress: wraps an iteration: progress(iterable, total, label).
        report: called with each line of the corpus report, before the long
            work, and whether it is a warning.

    Returns:
        (the manifest, a dict; whether anything was made).

    Raises:
        ValueError: the input holds no text or would be replaced, or the output
            was started with other flags or input.
        OSError: a file cannot be read or written, a process was killed, or
            another process makes the same output.
    """
    token_store.check_options(job.text)
    job.check_held_out()
    with locks.hold(job.lock_file, f"--output_file={job.output_file}"):
        return _create_missing_shards(job, executor, progress, report)


def _create_missing_shards(
    job: Job,
    executor: Executor,
    progress: Progress,
    report: Callable[[str, bool], None],
) -> tuple[dict[str, Any], bool]:
    """Makes the missing shards; see `create_shards`."""
    job.remove_partial_shards()
    description = job.describe()
    manifest = job.read_manifest(description)
    if manifest is not None:
        done = dataclasses.replace(job, num_shards=len(manifest["shards"]))
        if all(
            is_whole(done.shard_path(shard), entry)
            for shard, entry in enumerate(_shard_entries(manifest))
        ):
            job.remove_work()
            return manifest, False
    job.begin(description)

    run = functools.partial(_run_stage, executor, progress)
    try:
        corpus = _create_store(job, run)
    except ValueError:
        # The input or a flag must change, and then everything is redone.
        job.remove_work()
        raise
    for line, is_warning in corpus_report.lines(corpus):
        report(line, is_warning)
    job = _with_num_shards(job, corpus["num_tokens"])
    plans = _plan_instances(job, run)
    _find_whole_shards(job, manifest)
    made = run(job, "shard", [(job, shard) for shard in job.all_shards])
    made, held_out = made[: job.num_shards], made[job.num_shards :]
    manifest = {
        **description,
        "corpus": corpus,
        "statistics": corpus_report.statistics(
            plans, made, job.instances.max_seq_length
        ),
        "shards": [
            entry | {"path": job.shard_path(shard)}
            for shard, entry in enumerate(made)
        ],
    }
    if held_out:
        manifest["eval_shards"] = held_out
    write_json(job.manifest_file, manifest)
    job.remove_work()
    return manifest, True


def _shard_entries(manifest: Mapping[str, Any]) -> list[dict]:
    """Returns the entries of a manifest's shards, in order of their number."""
    return manifest["shards"] + manifest.get("eval_shards", [])


def _plan_instances(job: Job, run: RunTasks) -> list[dict]:
    """Plans all instances, unless done; returns their counts."""
    ranges = instance_plan.document_ranges(_open_store(job))
    passes = range(job.instances.dupe_factor)
    plans = run(
        job,
        "plan",
        [(job, *each) for each in itertools.product(passes, ranges)],
    )
    ends = np.array([plan.pop("shard_ends") for plan in plans])
    totals = ends[:, : job.num_shards].sum(0)
    if not np.diff(totals, prepend=0).all():
        raise ValueError(
            f"--num_shards={job.num_shards} leaves a shard empty, with "
            f"{totals[-1]} instances in all; give fewer"
        )
    with atomic_open(job.work_path("plan.npy")) as file:
        np.save(file, ends)
    return plans


def _find_whole_shards(job: Job, manifest: dict | None) -> None:
    """Keeps the results of undamaged shards, and drops the others.

    Args:
        job: Job.
        manifest: of a finished job that lost shards; or None.
    """
    entries = (
        _shard_entries(manifest) if manifest else [None] * len(job.all_shards)
    )
    for shard, entry in enumerate(entries):
        result = job.work_path(f"shard-{shard:05d}.json")
        found = entry or job.read(result, _RESULTS["shard"])
        if is_whole(job.shard_path(shard), found):
            write_json(result, found)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.remove(result)


# Fields that the results of each stage's tasks must have.
_RESULTS: dict[str, dict[str, type]] = {
    "block": dict.fromkeys((*token_store.COUNTS, "num_dropped_bytes"), int),
    "plan": {"num_instances": int, "shard_ends": list},
    "shard": {"num_records": int, "bytes": int, "crc32c": str},
}


def _run_stage(
    executor: Executor,
    progress: Progress,
    job: Job,
    stage: str,
    tasks: list[tuple],
) -> list:
    """Runs the remaining tasks of a stage; returns the results of all."""
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
    return [job.read(f"{path}.json", _RESULTS[stage]) for path in paths]


def _run_task(stage: str, path: str, arguments: tuple) -> None:
    """Runs one task, and writes its result."""
    functions: dict[str, Callable[..., dict]] = {
        "block": _tokenize,
        "plan": _plan,
        "shard": _write_shard,
    }
    write_json(f"{path}.json", functions[stage](path, *arguments))


def _tokenize(path: str, job: Job, block: token_store.Block) -> dict:
    return token_store.tokenize_block(job.text, block, path)


def _plan(
    path: str, job: Job, duplication: int, documents: tuple[int, int]
) -> dict:
    return instance_plan.write_plan(
        job.instances,
        _open_store(job),
        job.num_shards,
        duplication,
        documents,
        path,
    )


def _write_shard(unused_path: str, job: Job, shard: int) -> dict:
    ends = np.load(job.work_path("plan.npy"), mmap_mode="r")
    rows = np.concatenate(
        [
            instance_plan.read_plan(
                job.work_path(f"plan-{number:05d}"), ends[number], shard
            )
            for number in range(len(ends))
        ]
    )
    path = job.shard_path(shard)
    options, key = job.instances, shard
    if shard == job.num_shards:
        # Held-out documents get the same masks in every evaluation, for any
        # number of shards.
        options = dataclasses.replace(options, dynamic_masking=False)
        key = MAX_SHARDS
    counts = shards.write_shard(
        options,
        _open_store(job),
        _load_vocab(job.text.vocab_file),
        rows,
        key,
        path,
    )
    return {"path": path, **counts, **measure_file(path)}


_load_vocab = functools.lru_cache(maxsize=1)(tokenization.load_vocab)


def _open_store(job: Job) -> token_store.TokenStore:
    path = job.work_path("store")
    num_ids = len(_load_vocab(job.text.vocab_file))
    return _open_store_once(path, num_ids, os.stat(f"{path}.tokens").st_mtime)


@functools.lru_cache(maxsize=1)
def _open_store_once(
    path: str, num_ids: int, unused_time: float
) -> token_store.TokenStore:
    return token_store.TokenStore(path, num_ids)


def _create_store(job: Job, run: RunTasks) -> dict[str, int]:
    """Tokenizes the input, unless done; returns its counts."""
    corpus = job.read(job.work_path("store.json"), _RESULTS["block"])
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
        write_json(job.work_path("store.json"), corpus)
        token_store.remove_parts(parts)
    return corpus


def _with_num_shards(job: Job, num_tokens: int) -> Job:
    if job.num_shards:
        return job
    num_tokens *= job.instances.dupe_factor
    least = min(_LEAST_SHARDS, num_tokens // _LEAST_SHARD_TOKENS)
    number = min(max(num_tokens // _SHARD_TOKENS, least, 1), MAX_SHARDS)
    return dataclasses.replace(job, num_shards=number)
