"""Reads sentences with tagged words from files of columns.

    Anna B-PER        Sentence #,Word,POS,Tag
    left O            Sentence: 1,Anna,NNP,B-PER
                      ,left,VBD,O

On the left is the layout of CoNLL-2003, without names of columns. On the right
is a table, whose first line names its columns.
"""

import ast
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from data.io import dialects, tables, text_files
from data.ner.sentence_windows import NerExample
from data.ner.tag_names import is_tag, name_tags

_DOCUMENT = "-DOCSTART-"
_BLANKS = " \t"
# Names of a table's columns, as `_simplify` returns them. The first name of
# words or tags that a table has counts.
_WORDS = ("word", "words", "token", "tokens", "form", "text", "sentence")
_TAGS = "nertag nertags ner tag tags label labels entity iob bio wordlabels"
_SENTENCE = re.compile("sent(ence)?(id|no|num|number|idx|index)?")

# (number of a sentence's document, [(number of the line, columns) of a word]).
_Sentence = tuple[int, list[tuple[int, list[str]]]]


class Columns(NamedTuple):
    """The flags and the set by which a file of columns is read.

    Attributes:
        text_column: number of the column of the words, or None.
        label_column: number of the column of the tags, or None.
        labels: the tags of --labels or of the model, [] if they are unknown.
        name: "train", "dev" or "test".
    """

    text_column: int | None
    label_column: int | None
    labels: Sequence[str]
    name: str


class _Form(NamedTuple):
    # The character between columns, None for spaces and tabs. The names of the
    # columns, [] if the file has none. The file's width. The numbers of the
    # columns with words, tags and sentences, 0 if no name tells them.
    separator: str | None
    names: list[str]
    width: int
    words_at: int = 0
    tags_at: int = 0
    sentence_at: int = 0


def read(
    path: str, columns: Columns, written: tables.Layout = tables.DEFAULT
) -> Iterator[NerExample]:
    """Yields the sentences of a file. The `guid` is the first line of each.

    An empty line ends a sentence. In a table with a column of sentences, a new
    sentence begins where this column changes, or if it has empty cells, where
    it is filled. A table may also contain a sentence in each row, with lists of
    its words and tags.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is malformed, or no column contains tags.
    """
    is_test = columns.name == "test"
    lines = [*text_files.read_numbered(path, written.encoding)]
    layout = _find_layout(path, lines, is_test, written.delimiter)
    sentences = [*_read_sentences(path, lines, layout, columns.label_column)]
    if layout.tags_at and sentences and not columns.label_column:
        _, ((_, cells), *_) = sentences[0]
        if _is_list(cells[layout.words_at - 1], cells[layout.tags_at - 1]):
            sentences = [*_expand(path, sentences, layout)]
            layout = layout._replace(sentence_at=0)
    if layout.sentence_at:
        sentences = [*_part(sentences, layout.sentence_at - 1)]
    rows = (cells for _, lines in sentences for _, cells in lines)
    values = [*zip(*rows, strict=True)]
    words_at, tags_at = _find_columns(path, values, layout, columns)
    if not (layout.words_at or columns.text_column):
        _check_words(path, sentences, words_at, len(values))
    if tags_at and not columns.label_column:
        # Words may look like tags: B-DNA is a form of DNA.
        _check_nested(path, values, words_at - 1, tags_at - 1)
    language = _find_language(values[words_at - 1], len(sentences))
    tags = {"": "O"}
    if tags_at:
        counts = Counter(values[tags_at - 1])
        is_train = columns.name == "train"
        tags = name_tags(path, counts, columns.labels, is_train)
    for document, lines_of in sentences:
        words = []
        labels = []
        for number, cells in lines_of:
            word = cells[words_at - 1]
            tag = cells[tags_at - 1] if tags_at else ""
            if not word or tag not in tags:
                raise ValueError(
                    f"{path}, line {number}: the word is {word!r}, and its tag "
                    f"is {tag!r}, but a tag is such as O, B-PER or I-PER. Set "
                    "--label_column, or remove a line of column names"
                )
            words.append(word.removeprefix(language) or word)
            labels.append(tags[tag])
        row = None if is_test else {"labels": labels}
        guid = f"line {lines_of[0][0]}"
        yield NerExample(guid, words, labels, document, row=row)


def _find_layout(
    path: str,
    lines: Sequence[tuple[int, str]],
    is_test: bool,
    delimiter: str | None,
) -> _Form:
    # The first line that contains a word and does not begin with # determines
    # the layout. If all lines begin with #, then # is a word, not a comment.
    words = (x for _, x in lines if x.strip(_BLANKS) and x[:10] != _DOCUMENT)
    first = min(words, key=lambda line: line[0] == "#", default="")
    is_csv = tables.form_of(path) == "csv"
    told = delimiter and dialects.MARKS[delimiter]
    marks = told or ",;\t|"
    for mark in marks:
        names = _cut(first, mark) if mark in first or is_csv else []
        simple = [_simplify(name) for name in names]
        sentence = next(filter(_SENTENCE.fullmatch, simple), None)
        sentence_at = simple.index(sentence) + 1 if sentence else 0
        # The only column named sentence contains the words.
        others = [x for i, x in enumerate(simple, 1) if i != sentence_at]
        if sentence == "sentence" and not {*_WORDS} & {*others}:
            sentence_at = 0
        if sentence_at:
            others.insert(sentence_at - 1, "")
        words_at, tags_at = (
            next((others.index(x) + 1 for x in known if x in others), 0)
            for known in (_WORDS, _TAGS.split())
        )
        known = tags_at or (is_test and (sentence_at or is_csv))
        if words_at and known:
            width = len(names)
            return _Form(mark, names, width, words_at, tags_at, sentence_at)
    separator = "\t" if "\t" in first.rstrip(_BLANKS) else None
    if is_csv and separator is None:
        separator = next((mark for mark in ",;|" if mark in first), None)
    return _Form(separator, [], len(_cut(first, separator)))


def _simplify(name: str) -> str:
    # Sentence # and sentence_id become sentence and sentenceid.
    return re.sub("[^a-z]", "", name.lower())


def _read_sentences(
    path: str,
    lines: Sequence[tuple[int, str]],
    layout: _Form,
    label_column: int | None,
) -> Iterator[_Sentence]:
    separator, names, width, *_ = layout
    document = 0
    sentence: list[tuple[int, list[str]]] = []
    for number, line, cells in _cut_lines(path, lines, layout):
        if names and separator == "\t" and cells:
            # `_cut` leaves out empty cells at the end.
            cells += [""] * (width - len(cells))
        # Check all columns, because the first one need not contain the words.
        if not cells or any(cell.startswith(_DOCUMENT) for cell in cells):
            if sentence:
                yield document, sentence
                sentence = []
            if cells:
                document += 1
            continue
        if names and cells == names:
            continue
        # A line that starts with "# " or "## " may precede a sentence as a
        # comment, but not in a table. It may have as many columns as a word's
        # line, but contains no tag.
        may_begin = not sentence and not names and width > 1
        begins = may_begin and re.match("#+( |$)", cells[0])
        tag = cells[min(label_column or width, len(cells)) - 1]
        if begins and not is_tag(tag):
            continue
        if len(cells) != width:
            if line.startswith("#") and not names:
                continue
            raise ValueError(
                f"{path}, line {number}: the line has {len(cells)} columns, "
                f"but the first line has {width}. Received: {line[:80]!r}"
            )
        sentence.append((number, cells))


def _cut_lines(
    path: str, lines: Sequence[tuple[int, str]], layout: _Form
) -> Iterator[tuple[int, str, list[str]]]:
    # Yields (number, line, its cells), and an empty line after the last one. In
    # a table, a quoted cell may contain line breaks.
    mark = layout.separator
    if not (layout.names and mark and mark != "\t"):
        for number, line in [*lines, (0, "")]:
            yield number, line, _cut(line, mark)
        return
    told = dialects.Told(mark)
    ended = (f"{line}\n" for _, line in lines)
    dialect, _, every = dialects.find(path, ended, told, is_tsv=False)
    reader = dialects.records_of(every, dialect)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if cells is None:
            break
        if dialect.escapes:
            cells = dialects.show_escaped(cells)
        cells = _strip(cells)
        yield number, mark.join(cells), cells if any(cells) else []
    yield 0, "", []


def _strip(cells: Sequence[str]) -> list[str]:
    return [cell.strip(" ") or cell for cell in cells]


def _cut(line: str, separator: str | None) -> list[str]:
    # Splits a line into columns, [] if all of them are empty. `separator` is
    # None if any number of spaces and tabs separates the columns. Other white
    # space, such as a no-break space, is part of a word. If tabs separate the
    # columns, a word may be a single space.
    if not line.strip(_BLANKS):
        return []
    if separator is None:
        return re.findall(f"[^{_BLANKS}]+", line)
    if separator == "\t":
        cells = line.rstrip("\t").split(separator)
    else:
        cells = next(csv.reader([line], delimiter=separator))
    cells = _strip(cells)
    return cells if separator == "\t" or any(cells) else []


def _part(sentences: Sequence[_Sentence], at: int) -> Iterator[_Sentence]:
    # Parts the lines where the column `at` begins a new sentence.
    # pandas may write an empty cell as NaN.
    every = {cells[at] for _, lines in sentences for _, cells in lines}
    empty = {value for value in every if value.lower() in ("", "nan")}
    for document, lines in sentences:
        part: list[tuple[int, list[str]]] = []
        for number, cells in lines:
            value = cells[at]
            is_other = empty or not part or value != part[-1][1][at]
            if part and is_other and value not in empty:
                yield document, part
                part = []
            part.append((number, cells))
        yield document, part


def _is_list(words: str, tags: str) -> bool:
    # Returns whether cells contain a sentence's words, and a list of its tags.
    num_tags = len(_read_tags(tags))
    return tags.startswith("[") or num_tags == len(words.split()) > 1


def _read_tags(cell: str) -> list[str]:
    # A tag contains no space, comma or quote.
    return re.findall(r"[^\s,'\"\[\]]+", cell)


def _expand(
    path: str, sentences: Sequence[_Sentence], layout: _Form
) -> Iterator[_Sentence]:
    # Yields a sentence for each row, whose cells contain its words and tags.
    words_at, tags_at = layout.words_at - 1, layout.tags_at - 1
    for document, lines in sentences:
        for number, cells in lines:
            words, tags = cells[words_at].split(), _read_tags(cells[tags_at])
            if cells[words_at].startswith("["):
                try:
                    words = [*map(str, ast.literal_eval(cells[words_at]))]
                except (SyntaxError, ValueError):
                    words = []
            if len(words) != len(tags):
                raise ValueError(
                    f"{path}, line {number}: {len(tags)} tags do not fit the "
                    f"words {cells[words_at][:120]!r}. Write a word and its "
                    "tag per line, or JSON lines with `tokens` and `ner_tags`"
                )
            sentence = []
            for word, tag in zip(words, tags, strict=True):
                row = [*cells]
                row[words_at], row[tags_at] = word, tag
                sentence.append((number, row))
            if sentence:
                yield document, sentence


def _find_columns(
    path: str,
    values: Sequence[Sequence[str]],
    layout: _Form,
    columns: Columns,
) -> tuple[int, int]:
    # Returns the numbers of the columns of the words and of the tags, which is
    # 0 in a test set without tags.
    is_test = columns.name == "test"
    width = len(values)
    tags_at = columns.label_column or layout.tags_at
    if not tags_at and not (is_test and layout.names):
        tags_at = width
        if not columns.text_column and _is_first(values):
            tags_at = 1
    if is_test and (width == 1 or tags_at > width):
        tags_at = 0
    words_at = columns.text_column or layout.words_at
    words_at = words_at or (2 if tags_at == 1 else 1)
    if words_at == tags_at or max(words_at, tags_at) > width:
        raise ValueError(
            f"{path}: a line must contain a word and its tag, separated by a "
            f"tab or spaces. The lines have {width} columns, but the words are "
            f"expected in column {words_at} and the tags in column {tags_at}. "
            "Set --text_column and --label_column"
        )
    return words_at, tags_at


def _is_first(values: Sequence[Sequence[str]]) -> bool:
    # Returns whether the first column contains the tags, not the last one.
    if len(values) < 2:
        return False
    first, last = Counter(values[0]), Counter(values[-1])
    if all(map(is_tag, first)) and "O" in first:
        return not all(map(is_tag, last))
    # Tags without B- and I- are few, and most words are outside of entities.
    (most, _), (other, _) = first.most_common(1)[0], last.most_common(1)[0]
    return most == "O" != other and len(first) < len(last)


def _check_words(
    path: str, sentences: Sequence[_Sentence], words_at: int, width: int
) -> None:
    # Checks that the column `words_at` does not contain numbers of words, or
    # one value of each sentence, unless the user chose the column.
    if width == 1:
        return
    rows = []
    for _, lines in sentences:
        rows.append([cells[words_at - 1] for _, cells in lines])
    every_word = [word for words in rows for word in words]
    if all(re.search(r"\d", word) for word in every_word):
        raise ValueError(
            f"{path}: the words, such as {every_word[:3]}, all contain a "
            "digit. Remove the digits, or set --text_column to the column of "
            "the words, even if it is this one"
        )
    # In a file of two columns, the column beside the tags contains the words.
    has_others = width > 2 and len(every_word) > len(sentences)
    if has_others and all(len({*words}) == 1 for words in rows):
        raise ValueError(
            f"{path}: all words of a sentence are the same, such as "
            f"{every_word[0]!r}. Set --text_column to the column of the words"
        )


def _find_language(words: Sequence[str], num_sentences: int) -> str:
    # Returns the language that PAN-X writes before each word, such as "en:".
    prefix = re.match("[a-z-]+:", words[0])
    if num_sentences < 2 or not prefix:
        return ""
    is_language = all(word.startswith(prefix.group()) for word in words)
    return prefix.group() if is_language else ""


def _check_nested(
    path: str, columns: Sequence[Sequence[str]], words_at: int, tags_at: int
) -> None:
    # Raises an error if another column uses an entity type of the tags.
    # GermEval 2014 tags entities in one column, and entities nested in them in
    # the next column. CoNLL-2003 passes, because its column of chunks uses
    # types such as NP, which are not entity types.
    types = [
        {cell[2:] for cell in column if re.match("[BIESLUM]-.", cell)}
        for column in columns
    ]
    others = [x for i, x in enumerate(types) if i not in (words_at, tags_at)]
    if both := types[tags_at].intersection(itertools.chain(*others)):
        raise ValueError(
            f"{path}: two columns contain tags of the type {min(both)}. Set "
            "--label_column to the column to learn"
        )
