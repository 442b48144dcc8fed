"""The rows that model_benchmark.py times."""

from pathlib import Path
from typing import NamedTuple

from absl import flags

FLAGS = flags.FLAGS
ROOT = Path(__file__).resolve().parent.parent
MRPC_EXAMPLES = 3668


class Row(NamedTuple):
    """One line of work.

    Attributes:
        work: name of the contestants' function.
        precision: float32, bfloat16 or int8.
        variants: {contestant: the ways in which it may work, of which the
            fastest counts}; a list of such lists for several contestants;
            None for what --our_flags says.
        target: how many times faster than the best peer this project should
            be, and its MFU; or its seconds.
        settings: the contestants' settings; `num_steps` in a repeat.
        repeats: timed repeats of each contestant.
        needs: flags that must be given.
    """

    work: str
    precision: str
    variants: dict
    target: str
    settings: dict
    repeats: int
    needs: tuple = ()


def both(float32, bfloat16):
    """Returns a dict from each precision to its value."""
    return {"float32": float32, "bfloat16": bfloat16}


AUTOCAST = both([""], ["autocast"])
IN_BFLOAT16 = both([""], ["autocast", "bfloat16"])


def create_rows():
    """Returns {name: Row}, the short form's or the long one's."""
    full = FLAGS.full
    return {
        **_pretraining(full),
        **_inference(full),
        **_tasks(full),
        **_startup(full),
    }


def _rows(label, work, variants, targets, settings, repeats, needs=()):
    """Returns {name: Row} of one work, a row for each precision of targets.

    Args:
        label: what the names begin with.
        work: see Row.
        variants: {contestant: {precision: see Row}}.
        targets: {precision: see Row}.
        settings: see Row.
        repeats: see Row.
        needs: see Row.
    """
    return {
        f"{label}_{precision}": Row(
            work,
            precision,
            {
                name: of_precision and of_precision[precision]
                for name, of_precision in variants.items()
                if not of_precision or precision in of_precision
            },
            target,
            # The repeat to begin with is warm-up too.
            {"warmup_steps": 0} | settings,
            repeats,
            needs,
        )
        for precision, target in targets.items()
    }


def _pretraining(full):
    # XLA takes a minute to compile a step, and has not paid.
    hub_training = ["", "jit"] if full else [""]
    return _rows(
        "pretrain",
        "pretrain",
        {
            "ours": None,
            "keras_hub": both(hub_training, hub_training),
            "transformers": AUTOCAST,
        },
        both("1.15 x, MFU 0.85", "1.3 x, MFU 0.74"),
        {
            "batch_size": 16,
            "seq_length": 128,
            "num_predictions": 20,
            "num_steps": 1,
            "warmup_steps": 1,
        },
        10 if full else 3,
    )


def _inference(full):
    policies = ["mixed_bfloat16", "bfloat16"]
    variants = {
        "ours": both(
            ["float32", "float32 packed"], [*policies, "bfloat16 packed"]
        )
        | {
            "int8": [
                [f"{policies[0]} int8", "float32 int8"],
                [f"{policies[0]} int8 static", "float32 int8 static"],
            ]
        },
        "keras_hub": both([""], policies),
        "transformers": IN_BFLOAT16
        | {"int8": [["int8"], ["autocast", "bfloat16"]]},
    }
    rows = {}
    for batch_size, length, num_steps, targets in (
        (8, 128, 2, both("1.1 x", "1.15 x") | {"int8": "1.2 x"}),
        (1, 16, 20, both("1.3 x", "1.1 x") | {"int8": "1.5 x"}),
    ):
        rows |= _rows(
            f"inference_{batch_size}x{length}",
            "inference",
            variants,
            targets,
            {
                "batch_size": batch_size,
                "seq_length": length,
                "num_steps": num_steps,
                "warmup_steps": num_steps,
            },
            21 if full else 7,
        )
    return rows


def _tasks(full):
    rows = _rows(
        "mrpc",
        "mrpc",
        {"ours": None, "transformers": AUTOCAST},
        both("2 x", "2 x"),
        {
            "batch_size": 32,
            "seq_length": 128,
            "num_steps": 3 * MRPC_EXAMPLES // 32 if full else 10,
        },
        3,
        ("minilm_dir", "mrpc_dir"),
    )
    rows |= _rows(
        "squad",
        "squad",
        {
            "ours": both(None, None)
            | {"int8": ["", "--mixed_precision=float32"]},
            "transformers": IN_BFLOAT16 | {"int8": IN_BFLOAT16["bfloat16"]},
        },
        both("1.5 x", "1.4 x") | {"int8": "2 x"},
        {
            "batch_size": 8,
            "seq_length": 384,
            "doc_stride": 128,
            "num_questions": 1000 if full else 200,
            "num_steps": 1,
        },
        3,
        ("minilm_dir", "squad_file"),
    )
    for batch_size, num_steps in ((1, 64), (32, 4)):
        rows |= _rows(
            f"classify_{batch_size}",
            "classify",
            {"ours": None, "transformers": IN_BFLOAT16},
            both("1.5 x", "1.5 x"),
            {"batch_size": batch_size, "num_steps": num_steps},
            7 if full else 3,
            ("minilm_dir", "mrpc_dir"),
        )
    return rows


def _startup(full):
    settings = {"batch_size": 16, "seq_length": 64, "num_steps": 1}
    tiny = {"bert_config_file": str(ROOT / "samples" / "bert_config.json")}
    rows = {}
    for name, work, more, target, needs in (
        ("startup", "startup", {}, "9 s", ()),
        ("startup_tiny", "startup", tiny, "4 s", ()),
        ("startup_predict", "predict", {}, "4 s", ("minilm_dir",)),
    ):
        rows |= _rows(
            name,
            work,
            {"startup": {"float32": [""]}},
            {"float32": target},
            settings | more,
            7 if full else 3,
            needs,
        )
    return rows
