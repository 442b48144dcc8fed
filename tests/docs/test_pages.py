"""Checks the pages: links, commands, flags and snippets."""

import ast
import itertools
import pydoc
import re

import pytest

from docs import flags_index
from docs.site_hooks import PAGE_OF_NOTEBOOK
from model_folders import kinds
from tests.support import script_runner
from tests.support.paths import ROOT
from tests.support.source_files import (
    ALL_FOLDERS,
    BLOCK,
    PACKAGES,
    PAGES,
    blocks,
    defined_by,
    parse_source,
    parsed_sources,
    sources,
)

IDS = [str(path.relative_to(ROOT)) for path in PAGES]
SOURCES = [
    *ROOT.glob("*.py"),
    *itertools.chain(*map(sources, (*PACKAGES, "tools"))),
]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(#[^)]*)?\)")
# What stands for a value in a message.
VALUE = re.compile(r"\.\.\.|(?:process )?\b[0N]\b|--FLAG=|--[a-z_]+(?:=|, |$)")
# Flags of Beam on the pages, which a script takes with --pipeline=beam.
BEAM_FLAGS = {
    "dask_client_address",
    "environment_config",
    "environment_type",
    "flink_master",
    "parallelism",
    "runner",
}
COMMAND = re.compile(r"^.*?python (?:-m )?(\w+\.py|tools\.\w+) (.*)$")


@pytest.fixture(scope="module")
def flags():
    """{script: names of its flags}."""
    tables = flags_index.read_flags()
    return {script: {*rows, "help"} for script, rows in tables.items()}


def commands_of(text):
    """Yields (script, names of flags) of the commands of a page."""
    shown = "\n".join(blocks(text, "bash"))
    for line in shown.replace("\\\n", " ").splitlines():
        if match := COMMAND.match(line):
            yield match[1], re.findall(r"(?<!\S)--(\w+)", match[2])


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_to_files(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target, _ in LINK.findall(text):
        # The site makes pages of the notebooks.
        pages = {page: name for name, page in PAGE_OF_NOTEBOOK.items()}
        source = pages.get(target, target)
        assert (page.parent / source).exists(), target


@pytest.mark.parametrize(
    "page",
    [*PAGES, *ROOT.glob("benchmarks/*.md")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_rows_of_tables_belong_to_a_header(page):
    lines = ["", *page.read_text(encoding="utf-8").splitlines(), ""]
    num_cells = 0
    for number, (above, line) in enumerate(itertools.pairwise(lines), 1):
        cells = re.split(r"(?<!\\)\|", line)
        if not line.startswith("|"):
            continue
        if not above.startswith("|"):
            assert set(lines[number + 1]) == set("|-"), f"line {number}"
            num_cells = len(cells)
        assert len(cells) == num_cells, f"line {number}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_know_the_flags_of_pages(page, flags):
    for script, names in commands_of(page.read_text(encoding="utf-8")):
        for name in names:
            known_flags = {name, name.removeprefix("no")} & flags[script]
            is_of_beam = "pipeline" in names and name in BEAM_FLAGS
            assert known_flags or is_of_beam, f"{script} --{name}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_use_variables_that_their_page_defines(page):
    text = page.read_text(encoding="utf-8")
    # In prose, or as NAME= in commands.
    defined = {
        *re.findall(r"\b[A-Z][A-Z_]+\b", BLOCK.sub("", text)),
        *re.findall(r"\b[A-Z][A-Z_]+(?==)", text),
    }
    commands = "\n".join(blocks(text, "bash"))
    used = {*re.findall(r"\$\{?([A-Z][A-Z_]+)\b", commands)}
    assert used - {"PWD"} <= defined


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        # Other tests run the snippets of these two.
        if "```python" in page.read_text("utf-8")
        and page.name not in ("adding_a_task.md", "keras.md")
    ],
    ids=lambda page: page.name,
)
def test_the_python_code_of_a_page_runs(page, tmp_path, tiny):
    snippets = blocks(page.read_text(encoding="utf-8"), "python")
    # What XLA compiles is not what a page is about: a network of one block, too
    # narrow for the versions that are compiled, and no optimizations.
    small = f"{tiny}/one_block/bert_config.json"
    code = "\n".join(snippets)
    code = code.replace("examples/samples/bert_config.json", small)
    (tmp_path / "snippets.py").write_text(code)
    environment = {"XLA_FLAGS": "--xla_backend_optimization_level=0"}
    with script_runner.start(
        tmp_path / "snippets.py", ROOT, environment=environment
    ) as script:
        script.finish().check()


@pytest.mark.parametrize("page", ["api.md", "adding_a_task.md"])
def test_the_site_documents_names_that_exist(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for name in re.findall(r"^::: (\S+)$", text, re.M):
        assert pydoc.locate(name), name


def test_the_site_loads_the_packages_that_define_names_of_others():
    """Else `make docs` fails: `modeling.BertConfig` is in model_folders/."""
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    settings = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    loaded = re.search(r"preload_modules: \[(.*)\]", settings)[1].split(", ")
    for name in re.findall(r"^::: (\S+)$", page, re.M):
        definition = pydoc.locate(name)
        # A module has a name, and no module.
        place = getattr(definition, "__module__", name)
        package = place.split(".")[0]
        assert package in {name.split(".")[0], *loaded}, name


def holds_files(folder):
    """Returns whether Git has a folder, of which it may leave __pycache__."""
    names = {path.name for path in folder.glob("*")}
    return bool(names - {"__pycache__"})


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_pages_name_folders_that_exist(page):
    """A page writes: `tests/data/`."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for folder in re.findall(r"`([\w./]+/)`", text):
        # Other folders are a user's, such as `output/`.
        is_ours = folder.split("/")[0] in (*ALL_FOLDERS, "stubs")
        assert not is_ours or holds_files(ROOT / folder), folder


CODE_PAGES = [
    "architecture.md",
    "code_reference.md",
    "common_changes.md",
    "contributing.md",
]


@pytest.mark.parametrize("name", CODE_PAGES)
def test_the_pages_of_the_code_name_files_that_exist(name):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    files = [
        f"/{source.path.relative_to(ROOT)}"
        for source in parsed_sources(*ALL_FOLDERS)
    ]
    # Capitals stand for a name: FILE.py. `make` creates .venv/.
    for path in re.findall(r"`([a-z][a-z0-9_/.]*)`", BLOCK.sub("", page)):
        is_ours = "/" in path and (ROOT / path.split("/")[0]).is_dir()
        assert not is_ours or (ROOT / path).exists(), path
        found = any(file.endswith(f"/{path}") for file in files)
        assert not path.endswith(".py") or found, path


def files_named(name):
    """Returns the source files of a name, with or without its folders."""
    return [
        source.path
        for source in parsed_sources(*ALL_FOLDERS)
        if f"/{source.path.relative_to(ROOT)}".endswith(f"/{name}")
    ]


@pytest.mark.parametrize("name", [*CODE_PAGES[1:], "adding_a_task.md"])
def test_the_pages_of_the_code_name_code_that_exists(name):
    """A page writes: `name` in `FOLDER/FILE.py`. Walks have tables instead."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    # The line may break before or after "in".
    places = re.findall(r"`([\w.]+)`\s+in\s+`([\w/]+\.py)`", page)
    assert places
    for defined, file_name in places:
        # A test above checks that there is such a file.
        defined_there = [defined_in(file) for file in files_named(file_name)]
        assert any(defined in names for names in defined_there), (
            f"{file_name}: {defined}"
        )


def all_names():
    """Returns the names of all files, functions, classes and variables."""
    names = set()
    for source in parsed_sources(*ALL_FOLDERS):
        path = source.path.relative_to(ROOT)
        names |= {path.stem, path.parent.name}
        for node in ast.walk(source.tree):
            match node:
                case (
                    ast.ClassDef(name=name)
                    | ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                    | ast.arg(arg=name)
                    | ast.Name(id=name, ctx=ast.Store())
                    | ast.Attribute(attr=name, ctx=ast.Store())
                ):
                    names.add(name)
    return names


# Names in other packages.
_NAMES_OF_OTHERS = {"MultiWorkerMirroredStrategy", "random", "tensorflow_text"}


@pytest.mark.parametrize("name", ["architecture.md", "code_reference.md"])
def test_a_bare_name_on_the_pages_of_the_code_is_defined_somewhere(name):
    """A page writes: `name` or `CLASS.name`."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    # The rules for names contain words that stand for names, such as read_x.
    page = re.sub(r"\n### The first word of.*?(?=\n## )", "", page, flags=re.S)
    # Another test checks the names of files.
    files = re.compile(r".*\.(?:py|txt|tf_record)")
    named = {
        code.split(".")[-1]
        for code in re.findall(r"`([A-Za-z_][\w.]*)`", BLOCK.sub("", page))
        if not files.fullmatch(code)
    }
    assert len(named) > 20
    assert sorted(named - _NAMES_OF_OTHERS - all_names()) == []


def defined_in(file):
    """Returns what a file defines, and what its classes do as CLASS.NAME."""
    code = parse_source(ROOT / file).tree
    names = {*defined_by(code.body)}
    for owner in code.body:
        if isinstance(owner, ast.ClassDef):
            names |= {
                f"{owner.name}.{inner}" for inner in defined_by(owner.body)
            }
    return names


def test_the_functions_of_the_walks_exist():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    walks = page.split("\n## Four walks\n")[1].split("\n## ")[0]
    # The functions to read first are bold.
    row = r"^\| `([\w./]+)` \| (?:\*\*)?`([\w.]+)`(?:\*\*)? \|"
    functions = re.findall(row, walks, re.M)
    assert len(functions) == len(re.findall(r"^\| `", walks, re.M))
    for file, name in functions:
        assert name in defined_in(file), f"{file}: {name}"


def test_the_page_names_the_files_of_each_kind_of_model():
    page = (ROOT / "docs/code_reference.md").read_text(encoding="utf-8")
    table = page.split("\n## The files of a task")[1].split("\n## ")[0]
    named = {*re.findall(r"`(Bert\w+)`", table)}
    assert named == {*kinds.KIND_OF_CLASS}


def test_the_index_of_flags_is_up_to_date():
    written = (ROOT / "docs" / "flags.md").read_text(encoding="utf-8")
    # Whoever changed a flag runs `python docs/flags_index.py`.
    assert flags_index.create_page() == written
    _, *parts = re.split(r"^## (.+)\n", written, flags=re.M)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    for script, rows in flags_index.read_flags().items():
        shared = re.findall(r"\[(.+?)\]\(#", sections[script])
        text = "".join(sections[title] for title in (script, *shared))
        assert sorted(re.findall(r"^\| `--(\w+)`", text, re.M)) == sorted(rows)


def test_the_messages_that_pages_explain_exist():
    """Compares the first column of the tables of faq.md with the code."""
    strings = "\n".join(
        node.value
        for path in SOURCES
        for node in ast.walk(parse_source(path).tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    page = (ROOT / "docs/faq.md").read_text(encoding="utf-8")
    messages = re.findall(r"^\| `([^`]+ [^`]+)` \|", page, re.M)
    messages.remove("No matching distribution found for tensorflow")
    assert len(messages) > 5
    for message in messages:
        for part in VALUE.split(message):
            assert part.strip(" ,") in strings, message


def test_the_page_names_existing_places_for_googles_files():
    page = (ROOT / "docs/migrating.md").read_text(encoding="utf-8")
    table = page.split("| Google's file | here |")[1].split("\n\n")[0]
    places = dict(re.findall(r"^\| `(\w+\.py)`.*? \| (.*) \|$", table, re.M))
    scripts = {path.name for path in ROOT.glob("*.py")} & {*places}
    assert {name for name in places if "the script." in places[name]} == scripts
    for text in places.values():
        for name in re.findall(r"`((?:data|modeling|training)[.\w]*)`", text):
            assert pydoc.locate(name), name
    assert len(places) == 9
