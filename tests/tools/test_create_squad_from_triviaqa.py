"""TriviaQA's files in SQuAD's form, on authored files of its layout."""

import gzip
import json

import pytest

from data.squad import reading, scoring
from tests import script_runner
from tools.create_squad_from_triviaqa import Config, create_passages

LIGHT = (
    "The light of Brant Rock \n\nwas lit in 1874. Its first keeper was\n"
    "anna  maria Holm, who kept it for ten years. Anna Holm is buried there."
)


def question(number, answer, pages=(), results=()):
    def documents(names):
        return [
            {"DocSource": "Search", "Filename": name, "Title": name[:-4]}
            for name in names
        ]

    return {
        "Question": f"Question {number}?",
        "QuestionId": f"tc_{number}",
        "QuestionSource": "http://www.example.org/",
        "Answer": answer,
        "EntityPages": documents(pages),
        "SearchResults": documents(results),
    }


def answer(*spellings):
    return {
        "Aliases": list(spellings),
        "MatchedWikiEntityName": "",
        "NormalizedAliases": [each.lower() for each in spellings],
        "NormalizedValue": spellings[0].lower(),
        "Type": "FreeForm",
        "Value": spellings[0],
    }


@pytest.fixture
def released(tmp_path):
    """A folder with TriviaQA's `qa` and `evidence`."""
    for folder in ("qa", "evidence/wikipedia", "evidence/web/12"):
        (tmp_path / folder).mkdir(parents=True)
    evidence = tmp_path / "evidence"
    (evidence / "wikipedia/Brant_Rock.txt").write_text(LIGHT)
    (evidence / "wikipedia/Empty.txt").write_text(" \n")
    (evidence / "web/12/12_70.txt").write_text("Nobody knows, said Holmes.")
    anna = answer("Anna Holm", "Anna Maria Holm", "Holm")
    pages = ["Brant_Rock.txt", "Empty.txt", "Lost.txt"]
    first = question(1, anna, pages, ["12/12_70.txt"])
    second = question(2, answer("1874", "C++ (language)"), pages[:1])
    save(tmp_path, first, second)
    return tmp_path


def save(folder, *questions):
    content = {"Data": list(questions), "Domain": "Web", "Version": 1.0}
    (folder / "qa/web-dev.json").write_text(json.dumps(content))


def read(folder, **options):
    path, missing = f"{folder}/qa/web-dev.json", []
    evidence = f"{folder}/evidence"
    config = Config(
        input_file=path, evidence_dir=evidence, output_file="", **options
    )
    data = json.loads((folder / "qa/web-dev.json").read_text())["Data"]
    where = f"{path}: Data[0]"
    found = [[*create_passages(x, where, config, missing)] for x in data]
    return missing, found


def qas(entries):
    """Yields the text and the question of each entry."""
    for entry in entries:
        (paragraph,) = entry["paragraphs"]
        yield paragraph["context"], *paragraph["qas"]


def test_the_first_whole_words_that_answer(released):
    missing, (first, second) = read(released)
    (text, qa), (_, not_answered) = qas(first)
    assert qa["id"] == "tc_1--Brant_Rock.txt"
    assert not_answered["id"] == "tc_1--12/12_70.txt"
    # Holmes is another word, and another document does not count.
    assert not_answered["answers"] == []
    (found,) = qa["answers"]
    # The longest spelling at the first place, as the document spells it.
    assert found["text"] == "anna  maria Holm"
    start = found["answer_start"]
    assert text[start : start + len(found["text"])] == found["text"]
    ((_, qa),) = qas(second)
    assert qa["answers"][0]["text"] == "1874"
    assert missing == ["Lost.txt"]


def test_documents_are_cut_to_their_first_words(released):
    _, (first, second) = read(released, max_num_words=5)
    (text, qa), _ = qas(first)
    assert text == "The light of Brant Rock" and not qa["answers"]
    _, (_, second) = read(released, max_num_words=9)
    ((text, qa),) = qas(second)
    assert text.endswith("lit in 1874.") and qa["answers"]


def test_all_spellings_are_gold_answers(released):
    _, (first, _) = read(released, for_training=False)
    spellings = ["Anna Holm", "Anna Maria Holm", "Holm"]
    for _, qa in qas(first):
        assert [each["text"] for each in qa["answers"]] == spellings


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"Answer": {}}, "test sets are published without answers"),
        ({"Answer": None}, "no 'Answer' of type dict. Use .* TriviaQA's"),
        ({"QuestionId": 3}, "no 'QuestionId' of type str"),
        ({"EntityPages": [{}]}, "no 'Filename' of type str"),
        ({"EntityPages": "a"}, "no 'EntityPages' of type list"),
        ({"EntityPages": [{"Filename": "\0"}]}, "not a valid file name"),
        ({"Answer": {"Value": "a", "Aliases": "b"}}, "no 'Aliases' of type"),
        (
            {"EntityPages": [{"Filename": "../web/12/12_70.txt"}]},
            "outside of .*wi",
        ),
    ],
)
def test_other_layouts_are_refused(released, changed, message):
    save(released, question(1, answer("x"), ["Brant_Rock.txt"]) | changed)
    with pytest.raises(ValueError, match=message) as error:
        read(released)
    assert "web-dev.json: Data[0]" in str(error.value)


def test_lists_may_be_null(released):
    found = question(1, answer("Anna Holm"), ["Brant_Rock.txt"])
    found["Answer"] |= {"Aliases": None, "HumanAnswers": None}
    save(released, found | {"SearchResults": None})
    _, (entries,) = read(released)
    ((_, qa),) = qas(entries)
    assert qa["answers"]


def test_the_script_writes_what_run_squad_reads(released):
    packed = gzip.compress((released / "qa/web-dev.json").read_bytes())
    (released / "qa/packed.json.gz").write_bytes(packed)
    flags = {"input_file": "qa/packed.json.gz", "evidence_dir": "evidence"}
    flags["output_file"] = "train.json"

    def run(**more):
        tool = "tools.create_squad_from_triviaqa"
        return script_runner.run(tool, released, **flags | more)

    done = run().check()
    assert "2 of 3 passages written to train.json" in done.stdout
    assert "documents that are missing in evidence: 1" in done.stderr
    examples = reading.read_squad_examples(released / "train.json", True)
    answers = [example.orig_answer_text for example in examples]
    assert answers == ["anna  maria Holm", "1874"]
    assert examples[1].doc_tokens[examples[1].start_position] == "1874."
    written = (released / "train.json").read_bytes()
    assert "--output_file=train.json already exists" in run().error
    assert (released / "train.json").read_bytes() == written

    run(output_file="dev.json", for_training=False).check()
    examples = reading.read_squad_examples(released / "dev.json", False)
    predictions = {example.qas_id: "Holm" for example in examples}
    scores = scoring.score_predictions(released / "dev.json", predictions)
    assert scores["total"] == 3
    assert scores["exact_match"] == pytest.approx(200 / 3)

    failed = run(output_file="none.json", evidence_dir="qa").error
    assert "no document in --evidence_dir=qa" in failed
    assert not (released / "none.json").exists()
