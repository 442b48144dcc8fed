"""Times this project next to KerasHub and transformers, in one run.

    make bench   # the short form, in an environment of its own

    python benchmarks/model_benchmark.py --minilm_dir=DIR --mrpc_dir=DIR \
        --squad_file=dev-v1.1.json --output_file=results.json

Each contestant is a process that builds its model, warms up, and then makes
one timed repeat whenever its turn comes. Only one computes at a time, and they
take turns, so that all share the machine's fast and slow minutes. A row
has the median of the repeats. Where a peer can work in several ways, each is
tried once and the fastest stays. Rows in bfloat16 are left out where the
processor only emulates it, unless --rows names them in full.

MFU is the operations of the work over its seconds, as a share of the rate of
a product of two 2048 x 2048 matrices in the same precision: the best of
TensorFlow's and torch's, measured before and after the row. Operations are
those of the matrix products without padding, as `training_flops` of
training/costs.py counts them: 3 (forward and two gradients) x 2 x
(layers x length x (4 W^2 + 2 W I + 2 length W) + predictions x (W^2 +
W vocabulary) + W^2) a sequence, W the hidden and I the intermediate size; a
third of it where nothing is trained.

`ratio` is the seconds of the fastest peer in the row over the contestant's:
above 1 it is faster. Memory is the most that the process ever held, warm-up
included; `loaded` is what of it the libraries took before there was a model
(transformers loads more of itself with its model).
The rows (BERT-Base unless said otherwise, or --bert_config_file):

    pretrain   a step on 16 x 128, 20 predictions, with dropout, clipping and
               Adam with decay; KerasHub has no next sentence, and
               transformers predicts every position, not only the masked ones
    inference  the encoder, 8 x 128 and 1 x 16; KerasHub's and ours also with
               weights in bfloat16, ours also `packed`: with
               TF_ONEDNN_ASSUME_FROZEN_WEIGHTS=1, as the scripts have it that
               predict in bfloat16
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), batches of 32, at most 128 long; the short
               form makes 10 steps a repeat, in which lengths that are met
               for the first time weigh more than in the long form's 3 epochs
    squad      answering the first questions of --squad_file with MiniLM,
               windows of 384: windows, network and n best answers
    classify   labels of MRPC's sentences, text in and label out, one at a
               time and 32 at a time: MiniLM's SavedModel by `serving.load`,
               and transformers' pipeline
    startup    from the start of run_classifier.py to its first step done,
               with the samples' text; `startup_tiny` has the samples' model;
               `startup_predict` is predict.py from its start to its end, with
               one line and MiniLM

Rows in int8 have torch's own dynamic int8 next to the fastest of torch's
bfloat16; `static` has ranges that were measured before.
"""

import fnmatch
import importlib.util
import sys
import tempfile
from pathlib import Path

from absl import app, flags

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import race, rows, table  # noqa: E402

FLAGS = flags.FLAGS


def define_flags():
    """Defines the flags."""
    flags.DEFINE_list("rows", ["*"], "Names or patterns of the rows to time.")
    flags.DEFINE_bool("full", False, "The long form.")
    flags.DEFINE_integer("repeats", None, "Repeats of each row.", 1)
    flags.DEFINE_multi_string(
        "our_flags",
        [""],
        "Flags of our scripts; each time it is given, another contestant of "
        "the rows that fix none.",
    )
    flags.DEFINE_list(
        "contestants", ["ours", *race.PEERS], "Which to time.", short_name="c"
    )
    flags.DEFINE_string(
        "bert_config_file",
        str(rows.ROOT / "configs" / "uncased_L-12_H-768_A-12.json"),
        "The model of pretraining, inference and startup.",
    )
    flags.DEFINE_string("minilm_dir", None, "MiniLM as a Hugging Face folder.")
    flags.DEFINE_string("mrpc_dir", None, "Folder of MRPC's train.tsv.")
    flags.DEFINE_string("squad_file", None, "SQuAD v1.1's dev set.")
    flags.DEFINE_string("output_file", None, "Write the results as JSON.")


def main(_):
    """Times the rows, and prints the table."""
    chosen = {
        name: row
        for name, row in rows.create_rows().items()
        if any(fnmatch.fnmatch(name, pattern) for pattern in FLAGS.rows)
    }
    names = []
    for name in FLAGS.contestants:
        peer = race.PEERS.get(name)
        if peer and not importlib.util.find_spec(peer):
            print(f"{name} is not installed: not timed")
        else:
            names.append(name)
    results, num_failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        matmul_rate = race.MatmulRate(names, folder)
        rates = matmul_rate()
        # Without instructions for it, bfloat16 takes many times as long.
        emulated = rates["bfloat16"] < rates["float32"]
        for name, row in chosen.items():
            missing = [
                f"--{flag}" for flag in row.needs if not FLAGS[flag].value
            ]
            if missing:
                print(f"{name} needs {' and '.join(missing)}: not timed")
                continue
            slow = emulated and row.precision == "bfloat16"
            if slow and name not in FLAGS.rows:
                print(
                    f"{name}: bfloat16 is emulated on this processor, so it "
                    f"is timed with --rows={name} only"
                )
                continue
            race.say(name)
            *timed, failed = race.time_row(row, names, matmul_rate, folder)
            num_failed += failed
            results += table.summarize(name, row, *timed)
            if FLAGS.output_file:
                # After each row, so that an interrupted run leaves something.
                table.write(results, FLAGS.output_file)
        matmul_rate.close()
    table.show(results)
    # What failed has said so.
    return int(num_failed > 0)


if __name__ == "__main__":
    define_flags()
    app.run(main)
