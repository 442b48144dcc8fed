"""Tasks on Beam's workers: who runs them, and the cause of an error."""

import subprocess

import pytest

from data.parallel_jobs import beam_pipeline
from data.parallel_jobs.beam_options import parse_options
from tests.support.serving import dask_cluster

# An error in a worker of a runner in Java, such as Flink.
FLINK = """Pipeline BeamApp-root failed in state FAILED: \
java.lang.RuntimeException: Error received from SDK harness for instruction 4: \
Traceback (most recent call last):
  File "apache_beam/runners/common.py", line 1512, in process
FileNotFoundError: [Errno 2] No such file or directory: '/data/corpus.txt'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "data/io/text_files.py", line 12, in open_binary
    raise ValueError(
        ^^^^^^^^^^^^
{error} [while running 'MapTuple(write_shards)-ptransform-32']

\tat org.apache.beam.runners.fnexecution.control.FnApiControlClient.run(F.java)
\tat java.base/java.lang.Thread.run(Thread.java:829)

Note: imports, functions and other variables defined in the global context
of your `__main__` file are not available. For more information, see
https://cloud.google.com/dataflow/docs/resources/faq
"""


FAILED = "the Beam pipeline failed: "
MISSING = "ModuleNotFoundError: No module named 'data'"


def explain_error(error, cause=None):
    """Returns the class of the error that users see, and its message."""
    error.__cause__ = cause
    explained = beam_pipeline.beam_error(error)
    return type(explained), str(explained)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ("ValueError: a.txt: line 3", ValueError, "a.txt: line 3"),
        ("ValueError: a.txt:\nline 3", ValueError, "a.txt:\nline 3"),
        ("UnicodeDecodeError: bad byte", ValueError, "bad byte"),
        ("a.b.OddError: x: y", OSError, FAILED + "OddError: x: y"),
        ("KeyboardInterrupt", OSError, FAILED + "KeyboardInterrupt"),
        ("OSError: [Errno 28] full: 'a'", OSError, FAILED + "[Errno 28] fu"),
        ("FileNotFoundError: no a.txt", OSError, FAILED + "no a.txt"),
        (MISSING, OSError, f"{FAILED}{MISSING}. Install this project on every"),
    ],
)
def test_the_last_line_of_a_traceback_becomes_the_error(error, kind, message):
    error_class, text = explain_error(RuntimeError(FLINK.format(error=error)))
    assert error_class is kind
    assert text.startswith(message)
    # Words of FLINK.
    assert "while running" not in text
    assert "org.apache" not in text


def test_the_most_telling_error_of_a_chain_is_shown():
    # What the function raised says more than its cause.
    actual = explain_error(ValueError("a.txt is bad"), OSError("cause"))
    assert actual == (ValueError, "a.txt is bad")
    # Dask's scheduler only says that the function cannot be read.
    _, message = explain_error(
        RuntimeError("Error during deserialization, see\nhttps://docs"),
        ModuleNotFoundError("No module named 'data'"),
    )
    assert message.startswith(f"{FAILED}{MISSING}. Install this project")
    assert explain_error(KeyError("outer")) == (
        OSError,
        f"{FAILED}KeyError: 'outer'",
    )


@pytest.mark.parametrize("kind", [ValueError, OSError, KeyError])
def test_beam_raises_the_error_of_a_task_as_value_error_or_os_error(kind):
    pytest.importorskip("apache_beam", reason="Apache Beam is not installed")

    def fail(number):
        raise kind(f"{number} is wrong")

    options = parse_options(["--runner=DirectRunner"])
    expected = ValueError if kind is ValueError else OSError
    with pytest.raises(expected) as caught:
        [*beam_pipeline.run_on_beam(fail, [(7,)], options)]
    assert "7 is wrong" in str(caught.value)
    assert "while running" not in str(caught.value)


def test_each_worker_of_dask_gets_calls(tmp_path):
    pytest.importorskip("apache_beam", reason="Apache Beam is not installed")
    pytest.importorskip("distributed", reason="Dask is not installed")
    with dask_cluster.Cluster(tmp_path / "dask") as cluster:
        address = f"--dask_client_address={cluster.address}"
        options = parse_options(["--runner=DaskRunner", address])
        # Each call writes the id of its worker's process.
        command = ["sh", "-c", f"echo $PPID >> {tmp_path}/pids; sleep 0.2"]
        calls = [(command,)] * 10
        run = beam_pipeline.run_on_beam(subprocess.check_call, calls, options)
        assert [*run] == [None] * 10
        pids = (tmp_path / "pids").read_text().split()
        assert len(pids) == 10
        assert {*map(int, pids)} == {worker.pid for worker in cluster.workers}
