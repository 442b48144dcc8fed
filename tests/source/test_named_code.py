"""Docstrings and comments name files and code that exist.

Else, after a rename, a reader would look for what is gone.
"""

import ast
import builtins
import collections
import functools
import io
import itertools
import re
import tokenize
from typing import NamedTuple

from tests.support.paths import ROOT
from tests.support.source_files import (
    ALL_FOLDERS,
    PACKAGES,
    Source,
    check_none,
    defined_by,
    parsed_sources,
)

SPAN = re.compile(r"`([^`]+)`")
# A class by its name: two words or more, as in `FullTokenizer`. In an example,
# a call of the class.
CLASS_IN_SPAN = re.compile(r"\b_?(?:[A-Z][a-z0-9]+){2,}[A-Z]*\b")
CLASS_IN_EXAMPLE = re.compile(CLASS_IN_SPAN.pattern + r"(?=[(.\[])")
# Packages of others, and endings of files, which look like `module.name`.
OTHER_PACKAGES = {"keras", "tf"}
FILE_ENDINGS = {"ckpt", "data", "json", "jsonl", "pb", "py"}
# Bases that add nothing that a docstring lists.
EMPTY_BASES = {"ABC", "Generic", "NamedTuple", "Protocol", "TypedDict"}


def described_nodes(source):
    """Yields the nodes of a Source that may have a docstring."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(source.tree):
        if isinstance(node, (*described, ast.AsyncFunctionDef)):
            yield node


class Prose(NamedTuple):
    """A comment or a docstring, and the Source and line that it begins in."""

    source: Source
    line: int
    text: str

    def place(self, name):
        """Returns "file:line: name" of the first line that contains a name."""
        before, _, _ = self.text.partition(name)
        path = self.source.path.relative_to(ROOT)
        return f"{path}:{self.line + before.count(chr(10))}: {name}"


def prose_of(source):
    """Yields the Prose of a Source."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            yield Prose(source, token.start[0], token.string)
    for node in described_nodes(source):
        if docstring := ast.get_docstring(node):
            yield Prose(source, node.body[0].lineno, docstring)


def section_of(docstring, title):
    """Returns the indented lines below a title, without their indent.

    They are "" if the docstring is None, or has no such section.
    """
    _, _, below = f"\n{docstring}\n".partition(f"\n{title}:\n")
    lines = itertools.takewhile(
        lambda line: not line or line.startswith("    "), below.split("\n")
    )
    return "\n".join(line.removeprefix("    ") for line in lines)


def dotted_names(text):
    """Yields the parts of each name with dots that begins a span of code.

    They are ["module", "Class", "method"] in `module.Class.method(argument)`.
    """
    for span in SPAN.findall(text):
        parts = re.match(r"[\w.]*", span)[0].split(".")
        if len(parts) > 1 and all(parts):
            yield parts


@functools.cache
def all_prose():
    """Returns the Prose of this project."""
    return [
        prose
        for source in parsed_sources(*ALL_FOLDERS)
        for prose in prose_of(source)
    ]


def test_docstrings_and_comments_name_files_that_exist():
    files = [
        f"/{source.path.relative_to(ROOT)}"
        for source in parsed_sources(*ALL_FOLDERS)
    ]
    # A file of another project.
    files.append("/transformers/activations.py")
    wrong = [
        prose.place(name)
        for prose in all_prose()
        # Capitals stand for a name: FILE.py.
        for name in re.findall(r"[\w/]*[a-z0-9_]\.py\b", prose.text)
        if not any(file.endswith(f"/{name}") for file in files)
    ]
    check_none(
        wrong, "There is no file of this name. Write the name it has now:"
    )


def names_of(source):
    """Returns what a module defines, or what a package offers."""
    is_package = source.path.name == "__init__.py"
    nodes = [*ast.walk(source.tree)] if is_package else source.tree.body
    names = {*defined_by(nodes)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
    if is_package:
        names |= {inner.stem for inner in source.path.parent.iterdir()}
    return names


def names_of_modules():
    """Returns {name of a module: what the modules of this name define}."""
    names = collections.defaultdict(set)
    for source in parsed_sources(*PACKAGES, "tools"):
        is_package = source.path.name == "__init__.py"
        path = source.path.parent if is_package else source.path
        names[path.stem] |= names_of(source)
    return names


def variables_of(source):
    """Returns the names of the variables and parameters of a Source."""
    variables = set()
    for node in ast.walk(source.tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                variables.add(name)
    return variables


def module_members(text):
    """Yields (module, name) of each `module.name`, or `variable.name`."""
    for parts in dotted_names(text):
        module, name = parts[-2:]
        if (
            not module[0].isupper()
            and parts[0] not in OTHER_PACKAGES
            and name not in FILE_ENDINGS
        ):
            yield module, name


def test_docstrings_and_comments_name_code_that_exists():
    """In `module.name`, a module of this project defines the name."""
    modules = names_of_modules()
    all_names = set().union(*modules.values())
    wrong = []
    for prose in all_prose():
        for module, name in module_members(prose.text):
            # A module of ours with the name, or else a variable or a module
            # of others without a name of ours: a renamed module has one.
            is_right = (
                name in modules[module]
                if module in modules
                else name not in all_names
            )
            if not is_right and module not in variables_of(prose.source):
                wrong.append(prose.place(f"{module}.{name}"))
    check_none(
        wrong,
        "No module of this name defines this. Write the module that does, or "
        "the new name:",
    )


def names_in_code(source):
    """Yields all names in a Source, and all words of its texts.

    Docstrings are none of its texts. The names of packages of others count,
    such as those that it imports, and so do names that only a text contains,
    such as a class in config.json.
    """
    docstrings = {
        node.body[0].value
        for node in described_nodes(source)
        if ast.get_docstring(node) is not None
    }
    for node in ast.walk(source.tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.Constant(value=str(text)) if node not in docstrings:
                yield from re.findall(r"\w+", text)


def classes_named_in(text):
    """Yields the names of classes in the code of a docstring or a comment."""
    for span in SPAN.findall(text):
        yield from CLASS_IN_SPAN.findall(span)
    yield from CLASS_IN_EXAMPLE.findall(section_of(text, "For example"))


def test_docstrings_and_comments_name_classes_that_exist():
    """A class of others exists if any code of this project uses its name."""
    known = {*dir(builtins)}
    for source in parsed_sources(*ALL_FOLDERS):
        known |= {*names_in_code(source)}
    wrong = [
        prose.place(name)
        for prose in all_prose()
        for name in classes_named_in(prose.text)
        if name not in known
    ]
    check_none(
        wrong,
        "No code has a class of this name. If it was renamed, write its new "
        "name:",
    )


def all_classes():
    """Yields each class of this project, as its syntax tree with its Source."""
    for source in parsed_sources(*ALL_FOLDERS):
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                yield source, node


def own_members(owner):
    """Yields what a class defines, and the attributes that `self` gets."""
    yield from defined_by(owner.body)
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(ast.Name("self"), attr=name, ctx=ast.Store()):
                yield name


class Members:
    """The members of the classes of this project, by the names of classes."""

    def __init__(self):
        self.own = collections.defaultdict(set)
        self.bases = collections.defaultdict(set)
        for _, owner in all_classes():
            self.own[owner.name] |= {*own_members(owner)}
            # Without packages and types: `BatchLoss[Any]`. A class may have the
            # name of its base, as the `Dense` of a test.
            self.bases[owner.name] |= {
                re.sub(r"^[\w.]*\.(?=\w)|\[.*", "", ast.unparse(base))
                for base in owner.bases
            } - {owner.name}

    def has(self, owner, name):
        """Returns whether a class or a base has a member, or may have it.

        A base of others may have any.
        """
        if owner not in self.own:
            return owner not in EMPTY_BASES
        return name in self.own[owner] or any(
            self.has(base, name) for base in self.bases[owner]
        )


def test_docstrings_and_comments_name_members_that_exist():
    members = Members()
    wrong = [
        prose.place(f"{owner}.{name}")
        for prose in all_prose()
        for parts in dotted_names(prose.text)
        for owner, name in itertools.pairwise(parts)
        if owner[0].isupper() and not members.has(owner, name)
    ]
    check_none(wrong, "The class has no such member. Write its new name:")


def listed_names(owner, title):
    """Returns the names in a section of the docstring of a class.

    A line may list several: `name, dtype: arguments of keras.Model`.
    """
    section = section_of(ast.get_docstring(owner), title)
    listed = set()
    for names in re.findall(r"^(\w[\w, ]*):", section, re.M):
        listed |= {*names.split(", ")}
    return listed


def test_classes_have_the_attributes_that_their_docstrings_list():
    members = Members()
    wrong = [
        f"{source.place(owner)}: {owner.name}.{name}"
        for source, owner in all_classes()
        for name in listed_names(owner, "Attributes")
        if not members.has(owner.name, name)
    ]
    check_none(
        wrong,
        "The class has no such attribute. Remove it from the docstring, or "
        "write its new name:",
    )


def parameters_of_constructor(owner):
    """Returns the parameters of the `__init__` that a class defines.

    *args and **options are not among them, and without an `__init__` of the
    class there are none.
    """
    for node in owner.body:
        match node:
            case ast.FunctionDef(name="__init__", args=arguments):
                parameters = [
                    *arguments.posonlyargs,
                    *arguments.args,
                    *arguments.kwonlyargs,
                ]
                return {parameter.arg for parameter in parameters} - {"self"}
    return set()


def test_a_class_lists_all_parameters_of_its_constructor_or_none():
    """Else, a new parameter would stay undocumented."""
    wrong = []
    for source, owner in all_classes():
        listed = listed_names(owner, "Args")
        parameters = parameters_of_constructor(owner)
        if listed and parameters and listed != parameters:
            names = ", ".join(sorted(listed ^ parameters))
            wrong.append(f"{source.place(owner)}: {owner.name}: {names}")
    check_none(
        wrong, "List these parameters under Args, or remove what is none:"
    )
