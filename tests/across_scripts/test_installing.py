"""pip installs every script, and all that scripts need."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import modeling
from dependencies import installation
from tests.support.paths import ROOT
from tests.support.script_runner import SCRIPTS
from tests.support.waiting import TIMEOUT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]
PAGE = (ROOT / "docs/installing.md").read_text("utf-8")


def test_every_script_is_installed_and_is_a_command():
    modules = [script for script in SCRIPTS if "." not in script]
    assert sorted(SETUPTOOLS["py-modules"]) == modules
    commands = {
        f"bert-{script.rpartition('.')[2].replace('_', '-')}": (
            f"{script}:command"
        )
        for script in SCRIPTS
    }
    assert PROJECT["project"]["scripts"] == commands


def test_every_folder_of_a_package_is_installed():
    """tests/source/test_layout.py compares the names of the packages."""
    for package in ROOT.glob("*/__init__.py"):
        for source in package.parent.rglob("*.py"):
            assert (source.parent / "__init__.py").is_file(), source


def test_pages_and_templates_are_installed():
    patterns = {
        path
        for package, names in SETUPTOOLS["package-data"].items()
        for name in names
        for path in (ROOT / package.replace(".", "/")).glob(name)
    }
    data_files = {
        path
        for package in ROOT.glob("*/__init__.py")
        for path in package.parent.rglob("*.*")
        if path.suffix in (".html", ".css", ".jinja", ".js", ".json", ".svg")
    } - {*(ROOT / "tests").rglob("*")}
    assert data_files
    assert data_files <= patterns


BLOCK = """
import runpy, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name in ("jinja2", "keras", "tensorflow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_missing_package_is_one_line(tmp_path):
    """As in an environment of requirements/predict.txt."""
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]")
    (tmp_path / "tiny.json").write_text('{"vocab_size": 5}')
    flags = "--task_name=cola --data_dir=. --output_dir=run --do_train"
    flags += " --vocab_file=vocab.txt --bert_config_file=tiny.json"
    script = [ROOT / "run_classifier.py", *flags.split(), "--do_lower_case"]
    done = subprocess.run(
        [sys.executable, "-c", BLOCK, *script, "--max_seq_length=8"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    assert last.endswith(" -r requirements.txt")


# As the scripts that pip writes for [project.scripts].
COMMAND = """#!{python}
import importlib.machinery
import sys
sys.path.insert(0, {site!r})

class Finder(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in {missing!r}:
            return super().find_spec(name, path, target)

sys.meta_path.remove(importlib.machinery.PathFinder)
sys.meta_path.append(Finder)
from {module} import command
sys.exit(command())
"""
OPTIONAL = [
    "ai_edge_litert",
    "apache_beam",
    "fastapi",
    "huggingface_hub",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "pyarrow",
    "sentencex",
    "uvicorn",
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder of the commands, where no optional package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    site = folder / "site-packages"
    for package in SETUPTOOLS["packages"]["find"]["include"]:
        name = package.removesuffix("*")
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, site / name, ignore=ignore)
    for module in SETUPTOOLS["py-modules"]:
        shutil.copy(ROOT / f"{module}.py", site)
    name = PROJECT["project"]["name"]
    info = site / f"{name.replace('-', '_')}-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 0\n")
    lines = ["[console_scripts]"]
    (folder / "bin").mkdir()
    for command, target in PROJECT["project"]["scripts"].items():
        lines.append(f"{command} = {target}")
        text = COMMAND.format(
            python=sys.executable,
            site=str(site),
            missing=[*installation.EXTRA_OF_PACKAGE],
            module=target.partition(":")[0],
        )
        (folder / "bin" / command).write_text(text)
        (folder / "bin" / command).chmod(0o755)
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder / "bin"


def run_installed(bin_folder, command, folder, *arguments):
    return subprocess.run(
        [bin_folder / command, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


@pytest.mark.parametrize("command", PROJECT["project"]["scripts"])
def test_an_installed_command_names_itself(installed, tmp_path, command):
    done = run_installed(installed, command, tmp_path, "--help")
    assert done.returncode == 0, done.stderr
    assert command in done.stdout.partition("\n\n\n")[0]
    names = "|".join(re.escape(script) for script in SCRIPTS)
    scripts = re.findall(rf"python .*|\b(?:{names})\.py", done.stdout)
    assert not scripts
    assert "tools." not in done.stdout
    assert str(installed) not in done.stdout


MISSING = {
    "serve": "bert-serve --model={export}",
    "hub": "bert-export --model=hf://a/b --export_dir=out",
    "onnx": "bert-export --model={export} --export_dir=out "
    "--export_format=onnx",
    "predict": "bert-predict --model={export} --engine=litert text",
    "plot": "bert-plot-runs --runs={export} --output=runs.png",
    "beam": "bert-create-pretraining-data --pipeline=beam --input_file=a.txt "
    "--output_file=out --vocab_file={export}/vocab.txt",
    "sentence-split": "bert-create-pretraining-data --sentence_split=en "
    "--input_file=a.txt --output_file=out --vocab_file={export}/vocab.txt",
    "tables": "bert-predict --model={export} --input_file=a.parquet "
    "--output_file=out.csv",
}


@pytest.fixture
def fake_export(tmp_path):
    """Files that look like an export, up to the import of its runtime."""
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "model.tflite").touch()
    entry = {"step": 1, "kind": "train", "metrics": {"loss": 1.0}}
    entry |= {"learning_rate": 0.1}
    (folder / "history.jsonl").write_text(json.dumps(entry))
    shutil.copy(ROOT / "examples/samples/vocab.txt", folder)
    (tmp_path / "a.txt").write_text("One. Two.\n\nThree. Four.\n")
    (tmp_path / "a.parquet").touch()
    return folder


@pytest.mark.parametrize("extra", MISSING)
def test_a_missing_part_is_named_as_it_is_installed(
    installed, tmp_path, fake_export, extra
):
    arguments = MISSING[extra].format(export=fake_export).split()
    done = run_installed(installed, arguments[0], tmp_path, *arguments[1:])
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1, done.stderr
    assert last.startswith("error: "), done.stderr
    name = PROJECT["project"]["name"]
    if extra == "tables":
        extra = "predict"  # The runtime is missing too.
    assert last.endswith(f'pip install "{name}[{extra}]"'), last
    # In a checkout, the files of requirements are there.
    part = f"requirements/{extra}.txt"
    assert f"pip install -r {part}" in {
        *map(installation.install_command, OPTIONAL)
    }


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("pyvenv.cfg", "pip install"),
        ("pipx_metadata.json", "pipx runpip bert-for-keras install"),
        ("uv-receipt.toml", "uv pip install --python={}"),
    ],
)
def test_the_command_fits_the_tool_that_installed(
    tmp_path, monkeypatch, file, command
):
    (tmp_path / file).touch()
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installation.install_command("onnxruntime") == (
        f'{command.format(tmp_path)} "bert-for-keras[onnx]"'
    )


def test_every_extra_exists_and_all_holds_what_the_scripts_use():
    extras = SETUPTOOLS["dynamic"]["optional-dependencies"]
    assert {*installation.EXTRA_OF_PACKAGE.values()} <= extras.keys()
    everything = {*extras.pop("all")["file"]}
    files = {file for each in extras.values() for file in each["file"]}
    for_developers = "bench bench_optimum dev docs"
    # Beam needs other versions of packages that TensorFlow uses.
    left_out = {
        f"requirements/{x}.txt" for x in [*for_developers.split(), "beam"]
    }
    assert everything == files - left_out
    assert files == {
        str(path.relative_to(ROOT)) for path in ROOT.glob("requirements/*")
    }


def test_the_distribution_has_one_name():
    name = PROJECT["project"]["name"]
    assert name == installation.DISTRIBUTION
    named = {*re.findall(r"([\w.-]+)\[(?:all|serve|hub)[\],]", PAGE)} - {"."}
    assert named == {name}
    assert "pipx install" in PAGE
    assert "uv tool" in PAGE


def test_the_version_is_the_same_everywhere():
    version = (ROOT / "VERSION").read_text().strip()
    assert modeling.__version__ == version
    assert SETUPTOOLS["dynamic"]["version"] == {"file": "VERSION"}
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    changes = (ROOT / "docs/changelog.md").read_text(encoding="utf-8")
    assert f"\n## {version}\n" in changes
    steps = (ROOT / "docs/common_changes.md").read_text(encoding="utf-8")
    assert "git tag -a v$(cat VERSION)" in steps


@pytest.mark.parametrize("name", ["predict", "train"])
def test_a_dockerfile_names_what_is_installed(name):
    text = (ROOT / f"docs/deploy/{name}.Dockerfile").read_text()
    # bert-predict and bert-train are also the images' names.
    named = re.findall(r"\bbert-(?!predict\b|train\b)[\w-]+", text)
    assert {*named} <= PROJECT["project"]["scripts"].keys()
    for file in re.findall(r"requirements/\S+", text):
        assert (ROOT / file).is_file()
    # The output folder is not copied into an image.
    assert "output" in (ROOT / ".dockerignore").read_text().split()
