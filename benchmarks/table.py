"""Writes the measurements as a table and as JSON."""

import json
import os
import platform
import sys
from pathlib import Path

from benchmarks.race import PEERS, seconds_of
from benchmarks.rows import MRPC_EXAMPLES


def summarize(name, row, contestants, rate):
    """Returns a dict for each contestant of a row."""
    flops = max((each.ready["flops"] for each in contestants), default=0)
    peers = [seconds_of(each) for each in contestants if each.name in PEERS]
    num_steps = row.settings["num_steps"]
    results = []
    for each in contestants:
        seconds = seconds_of(each)
        notes = each.replies[-1]["notes"]
        num_sequences = each.ready["num_sequences"]
        if row.work == "mrpc":
            rest = 3 * MRPC_EXAMPLES / num_sequences
            notes = notes | {"three_epochs_seconds": seconds * rest}
        is_peer = each.name in PEERS
        results.append(
            {
                "row": name,
                "precision": row.precision,
                "contestant": each.name,
                "variant": each.variant,
                "seconds": seconds / num_steps,
                "all_seconds": [
                    reply["seconds"] / num_steps for reply in each.replies
                ],
                "sequences_per_second": num_sequences / seconds,
                "mfu": flops / seconds / rate if flops and rate else None,
                "peak_memory_gib": each.replies[-1]["peak_memory_gib"],
                # The process that times a start loads nothing itself.
                "loaded_gib": (
                    None if each.name == "startup" else each.ready["loaded_gib"]
                ),
                "ratio": min(peers) / seconds if peers else None,
                "target": None if is_peer else row.target,
                "notes": notes,
                "matmul_gflops_per_second": rate / 1e9,
                "versions": each.ready["versions"],
            }
        )
    return results


def show(results):
    """Prints the table, the matrix product rates and the versions."""
    names = ("row", "contestant", "seconds", "seq/s", "MFU", "GiB")
    lines = [(*names, "loaded", "ratio", "target", "notes")]
    for result in results:
        notes = [f"{k} {v:.2f}" for k, v in result["notes"].items()]
        lines.append(
            (
                result["row"],
                f"{result['contestant']} {result['variant']}".strip(),
                f"{result['seconds']:.4f}",
                f"{result['sequences_per_second']:.2f}",
                f"{result['mfu']:.2f}" if result["mfu"] else "",
                f"{result['peak_memory_gib']:.2f}",
                f"{result['loaded_gib']:.2f}" if result["loaded_gib"] else "",
                f"{result['ratio']:.2f}" if result["ratio"] else "",
                result["target"] or "",
                ", ".join(notes),
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = [
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ]
        print(f"| {' | '.join(cells)} |")
    for precision in ("float32", "bfloat16"):
        rates = [
            result["matmul_gflops_per_second"]
            for result in results
            if result["precision"] == precision
        ]
        if rates:
            print(
                f"matrix product, {precision}: {min(rates):,.0f} to "
                f"{max(rates):,.0f} GFLOP/s"
            )
    versions = {}
    for result in results:
        versions |= result["versions"]
    print(", ".join(f"{name} {versions[name]}" for name in sorted(versions)))


def write(results, path):
    """Writes the results as JSON."""
    content = {
        "command": sys.argv[1:],
        "python": platform.python_version(),
        "processor": processor(),
        "num_processors": os.cpu_count(),
        "results": results,
    }
    Path(path).write_text(json.dumps(content, indent=2) + "\n")


def processor():
    """Returns the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line for line in lines if line.startswith("model name")]
    return names[0].split(": ")[1] if names else platform.processor()
