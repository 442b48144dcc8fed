"""Tables in the notations of public data sets and of programs.

Each case is read right, or refused with the reason. A row that is read wrong in
silence is worse than both.
"""

import re

import pytest

from tests.support.tables import table_rows


def read_cells(tmp_path, name, data, **layout):
    rows = table_rows.read_numbered_rows(tmp_path, name, data, **layout)
    return [[*row.values()] for _, row in rows]


READ = {
    # jq writes each object over several lines.
    "jq.json": [
        '{\n  "id": "1",\n  "text": "a {\\n}"\n}\n'
        '{\n  "id": "2",\n  "text": "b"\n}\n',
        [["1", "a {\n}"], ["2", "b"]],
    ],
    # Excel takes the mark from the first line.
    "sep.csv": ["sep=;\nid;text\n1;a\n2;b\n", [["1", "a"], ["2", "b"]]],
    # Amazon's and AG's news: classes by number, and no names.
    "a.csv": [
        '"2","Great CD","My lovely Pat has ""great"" hands"\n'
        '"1","Batteries died","I bought this, and \\ it died"\n'
        '"2","Fun","For all"\n',
        [
            ["2", "Great CD", 'My lovely Pat has "great" hands'],
            ["1", "Batteries died", "I bought this, and \\ it died"],
            ["2", "Fun", "For all"],
        ],
    ],
    # The SMS spam collection.
    "sms.tsv": [
        'ham\tGo until "jurong" point\nspam\tFree, entry\n'
        'ham\t"Gimme a few" was a minute ago\nspam\tWIN; now\n',
        [
            ["ham", 'Go until "jurong" point'],
            ["spam", "Free, entry"],
            ["ham", '"Gimme a few" was a minute ago'],
            ["spam", "WIN; now"],
        ],
    ],
    # Tweets of SemEval.
    "semeval.tsv": [
        "264\tpositive\tGas by my house\n265\tnegative\tTheo, no\n"
        "266\tpositive\tJane\n",
        [
            ["264", "positive", "Gas by my house"],
            ["265", "negative", "Theo, no"],
            ["266", "positive", "Jane"],
        ],
    ],
    # Decimal commas of pandas and R.
    "decimal.csv": [
        "nr;Kommentar;Wert\n1;Gut, gern;0,5\n2;Nie;0,7\n",
        [["1", "Gut, gern", "0,5"], ["2", "Nie", "0,7"]],
    ],
    # A blank after each comma.
    "spaced.csv": [
        'id, text, label\n1, "Good, fine", "a"\n2, "Bad", "b"\n',
        [["1", "Good, fine", "a"], ["2", "Bad", "b"]],
    ],
    # All labels of the first rows are one, in a sorted file.
    "sorted.csv": [
        "v1,v2\n" + "".join(f"neg,t{i}\n" for i in range(9)),
        [["neg", f"t{i}"] for i in range(9)],
    ],
    # MovieLens' titles, in a table of bars.
    "bars.csv": [
        'id|title|genre\n1|Toy Story, (1995)|fun\n2|"Up" and down|fun\n',
        [["1", "Toy Story, (1995)", "fun"], ["2", '"Up" and down', "fun"]],
    ],
    # Dumps of databases.
    "nulls.tsv": [
        "text\tlabel\n\\N\ta\nb\\tc\t\\N\n",
        [["\\N", "a"], ["b\\tc", "\\N"]],
    ],
    # Excel writes an empty name for the index of pandas.
    "index.csv": [
        ",text,label\n0,Good,a\n1,Bad,b\n",
        [["0", "Good", "a"], ["1", "Bad", "b"]],
    ],
    # Chat logs: a text of several lines, with the other marks.
    "chat.csv": [
        'text;label\n"a, b\nc, d";x\n"e;f\n\n""g""";y\n',
        [["a, b\nc, d", "x"], ['e;f\n\n"g"', "y"]],
    ],
    # A single column, whose texts contain every mark.
    "column.csv": [
        "text\nGood, fine\nBad, ill\n",
        [["Good, fine"], ["Bad, ill"]],
    ],
    "one.csv": ["text\nGood, fine; or not\n", [["Good, fine; or not"]]],
    # HTML, links and JSON in cells.
    "json.csv": [
        'text,meta\n<a href="x">b</a>,"{""k"": ""v, w""}"\nc,"{}"\n',
        [['<a href="x">b</a>', '{"k": "v, w"}'], ["c", "{}"]],
    ],
    # MySQL and pandas with an escape character.
    "mysql.csv": [
        'text,label\n"a \\"b\\", c\\\\",x\n"C:\\new",y\n',
        [['a "b", c\\', "x"], ["C:\\new", "y"]],
    ],
    "backslash.tsv": [
        'text\tlabel\n"say \\"no\\"\nand go"\tx\nb\ty\n',
        [['say "no"\nand go', "x"], ["b", "y"]],
    ],
    # A name of a column that looks like a text.
    "form.csv": [
        'Timestamp,"What, if any, is wrong?",Category\n1/2/2026,It broke,a\n',
        [["1/2/2026", "It broke", "a"]],
    ],
    "bars3.csv": [
        "text|||label\na|||x\nb|||y\n",
        [["a", "", "", "x"], ["b", "", "", "y"]],
    ],
    "utf32.csv": [
        "text,label\nCaf\xe9,x\n".encode("utf-32"),
        [["Caf\xe9", "x"]],
    ],
}


@pytest.mark.parametrize(("name", "table"), READ.items(), ids=READ)
def test_a_table_is_read_as_its_program_wrote_it(tmp_path, name, table):
    data, rows = table
    assert read_cells(tmp_path, name, data) == rows


REFUSED = {
    "title.csv": ["Export of May\n\nid,text\n1,a\n2,b\n", "title"],
    "titles.csv": ["Report\nMade today\nid,text\n1,a\n2,b\n3,c\n", "title"],
    "padded.csv": ["Export of May,,\nid,text,label\n1,a,x\n2,b,y\n", "title"],
    "comment.csv": [
        "# made by a tool, in 2026\nid,a,b\n1,a,x\n2,b,y\n",
        "title",
    ],
    # R's write.table does not name the column of row names.
    "r.tsv": ["text\tlabel\n1\ta\tx\n2\tb\ty\n", "title"],
    "footer.csv": ["id,text\n1,a\n2,b\nTotal: 2\n", "line 4"],
    "psql.csv": ["text | label\n-----+----\na | x\n(1 row)\n", "is drawn"],
    "joined.csv": ["text,label\na,x\n\ufefftext,label\nb,y\n", "repeats"],
    "decimals.csv": ["1;0,5\n2;0,7\n", "--delimiter"],
    "tie.csv": ["text, all;label\na, b;x\nc, d;y\n", "--delimiter"],
    "comma.tsv": ["text,label\na,x\nb,y\n", "--delimiter"],
    "lfs.csv": ["version https://git-lfs\noid sha256:1\nsize 9\n", "header"],
    "page.csv": ["<!DOCTYPE html>\n<html>\n<body>\n", "a web page"],
    "array.csv": [",0\n0,Good\n1,Bad\n", "header"],
    "spaces.csv": ["a b\nGood pos\nBad neg\n", "header"],
    "late.csv": ["text,label\n" + "a,x\n" * 300 + 'b,c,"y"\n', "line 302"],
    "spark.csv": [
        "text,label\n" + "a,x\n" * 300 + '"b, \\"c\\" d",y\n',
        r"line 302.*twice",
    ],
    "swallow.tsv": ['text\tlabel\n"a\tx\nb"\ty\nc\tx\n', "next lines"],
    "z.csv": [b"7z\xbc\xaf\x27\x1c\x00\x04", "7z"],
    "old.csv": [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel"],
    "p.csv": [b"PAR1\x15\x04", "Parquet"],
    "qualtrics.csv": [
        'Q1,Q2\nWhat broke?,How?\n"{""ImportId"":""QID1""}",'
        '"{""ImportId"":""QID2""}"\nAll,Fast\n',
        "second line of names",
    ],
    "monkey.csv": [
        "Respondent,Why?\n,Open-Ended Response\n1,a\n2,b\n",
        "second line of names",
    ],
    # Quoted by a program, and then damaged by hand.
    "damaged.tsv": [
        'text\tlabel\n"a ""b"""\tx\n"c" d\ty\n',
        "line 3",
    ],
    "ctrl_z.csv": ["text,label\na,x\n\x1a", "line 3"],
}


@pytest.mark.parametrize(("name", "table"), REFUSED.items(), ids=REFUSED)
def test_a_table_that_may_be_misread_is_refused(tmp_path, name, table):
    data, reason = table
    with pytest.raises(ValueError, match=re.compile(reason, re.DOTALL)):
        read_cells(tmp_path, name, data)
