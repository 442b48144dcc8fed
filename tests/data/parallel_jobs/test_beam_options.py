"""Beam's flags in every notation that it accepts, and typing errors in them."""

import pytest

from data.parallel_jobs.beam_options import BeamOptions, parse_options
from tests.support import script_runner

# Options whose value is a dict in JSON.
DICTS = (
    "beam_services",
    "gcs_custom_audit_entries",
    "sdk_harness_log_level_overrides",
)
# Flags with which no job runs here.
NO_JOB = {"-h", "--help", "--runner", "--no_wait_until_finish"}
DASK = "apache_beam.runners.dask.dask_runner.DaskRunner"


@pytest.fixture(autouse=True)
def beam():
    """Apache Beam, without which these tests are skipped."""
    return pytest.importorskip("apache_beam")


def values_of(*arguments, others=()):
    """Returns {name: value} of the parsed options that are set."""
    options = parse_options(arguments, others)
    return options.get_all_options(
        drop_default=True, retain_unknown_options=True
    )


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        # The default, written out.
        ("--direct_num_workers=1", "direct_num_workers", None),
        ("--direct_num_workers=2", "direct_num_workers", 2),
        ("--runner DirectRunner", "runner", "DirectRunner"),
        ("--runner=directrunner", "runner", "directrunner"),
        ("--job_name=a --runner DirectRunner", "job_name", "a"),
        # The name of the option is another than that of the flag.
        ("--experiment=foo", "experiments", ["foo"]),
        ("--no_use_public_ips", "use_public_ips", False),
        ("--num_workers 3 --save_main_session", "num_workers", 3),
        ("--streaming", "streaming", True),
        ("--temp_location=a=b", "temp_location", "a=b"),
        ("--runner=FlinkRunner --flink_master=h:1", "flink_master", "h:1"),
        ("--runner=SparkRunner --spark_version=3", "spark_version", None),
        ("--runner=PortableRunner --job_endpoint=h:1", "job_endpoint", "h:1"),
    ],
)
def test_flags_of_beam_have_their_values(arguments, name, value):
    assert values_of(*arguments.split()).get(name) == value


def forms_of(action):
    """Yields each form of a flag on a command line, with a value it takes."""
    value = next(iter(action.choices or ["1"]))
    if action.dest in DICTS:
        value = "{}"
    for name in {*action.option_strings} - NO_JOB:
        if action.nargs == 0:
            yield [name]
        else:
            yield [f"{name}={value}"]
            yield [name, str(value)]


def test_every_flag_of_beam_is_accepted(beam):
    parsers = []
    options = beam.options.pipeline_options.PipelineOptions([])
    options.get_all_options(add_extra_args_fn=parsers.append)
    (parser,) = parsers
    forms = [form for action in parser._actions for form in forms_of(action)]
    assert len(forms) > 250
    for form in forms:
        parse_options(form)


DASK_NAMES = pytest.mark.parametrize(
    "runner", [DASK, "DaskRunner", "dask", "daskrunner"]
)


@DASK_NAMES
def test_flags_of_dask_reach_its_runner(runner):
    pytest.importorskip("distributed")
    address = "--dask_client_address=tcp://127.0.0.1:1"
    got = values_of("--runner", runner, address)
    assert got["runner"] == DASK
    assert got["address"] == "tcp://127.0.0.1:1"


@DASK_NAMES
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        # One task in a partition, so that every worker works.
        ([], {"partition_size": 1}),
        (["--dask_npartitions", "4"], {"npartitions": 4}),
        (["--dask_partition_size=7"], {"partition_size": 7}),
    ],
)
def test_dask_has_one_size_or_number_of_partitions(runner, flags, expected):
    pytest.importorskip("distributed")
    got = values_of(f"--runner={runner}", *flags)
    names = {"npartitions", "partition_size"}
    assert {name: got[name] for name in names & got.keys()} == expected


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("--direct_num_worker=2", "--direct_num_worker; perhaps .*_workers:"),
        ("--runnr DirectRunner", "unknown flag --runnr; perhaps --runner:"),
        ("-runner=DirectRunner", "unknown flag --runner; perhaps --runner:"),
        ("--runner=DirectRunner x", r"must be a flag.*\['x'\]"),
        ("--direct_num_workers=two", "--direct_num_workers.*two.*of Beam"),
        ("--sdk_harness_log_level_overrides=1", "--sdk_har.*=1.*of Beam"),
        ("--direct_num_workers", "--direct_num_workers.*expected one"),
        ("--runner=DirektRunner", "DirektRunner.*DirectRunner"),
        ("--runner=DaskRuner", "DaskRuner.*DirectRunner.* DaskRunner is"),
        ("--runner=nowhere.Runner", "--runner=nowhere.Runner .*'nowhere'"),
        ("--runner=os.Runner", "--runner=os.Runner cannot be imported"),
        ("--zzz=1", "--zzz: .*--beam_option=NAME=VALUE"),
        ("--no_wait_until_finish", "--no_wait_until_finish cannot be used"),
    ],
)
def test_a_misspelled_flag_of_beam_is_refused_with_a_suggestion(
    arguments, parts
):
    with pytest.raises(ValueError, match=parts):
        parse_options(arguments.split())


def test_options_that_beam_does_not_know_are_passed_on():
    given = ["dataflow_secret=a=b", "fast=true"]
    got = values_of("--runner=DirectRunner", others=given)
    assert got["dataflow_secret"] == "a=b"
    assert got["fast"] == "true"


@pytest.mark.parametrize("option", ["foo", "=foo", ""])
def test_options_without_a_value_are_errors(option):
    with pytest.raises(ValueError, match=f"--beam_option={option} has no val"):
        parse_options([], [option])


def test_the_runner_sets_the_number_of_workers():
    options = BeamOptions(pipeline="beam")
    with pytest.raises(ValueError, match=r"--num_processes=4 .*-pipeline=beam"):
        options.parse([], num_processes=4)


@pytest.mark.parametrize("script", ["predict.py", "create_pretraining_data.py"])
@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("--runner=DirectRunner", "runner"),
        ("--dask_client_address=tcp://a:1", "dask_client_address"),
    ],
)
def test_flags_of_beam_without_beam_name_the_pipeline(
    script, flag, name, tmp_path
):
    error = script_runner.run(script, tmp_path, flag).error
    assert "--pipeline=beam" in error
    assert name in error


def test_a_script_without_beam_names_no_pipeline(tmp_path):
    error = script_runner.run("run_squad.py", tmp_path, "--runner=a").error
    assert "--pipeline" not in error


def test_options_of_beam_need_beam():
    with pytest.raises(ValueError, match="--beam_option=a=b is for --pipel"):
        BeamOptions(beam_option=["a=b"]).parse([])
    # The texts of predict.py.
    assert BeamOptions().parse(["--a text"]) is None
