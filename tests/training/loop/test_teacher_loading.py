"""--teacher: its checks, and an exact resume."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

import modeling
from model_folders import model_json
from model_folders.reading.preset import read_preset
from tests.support import script_runner
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.models import built, tiny_config, write_config
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags
from tests.support.tasks import toy_task
from training.config.classifier_config import ClassifierConfig
from training.loop.teacher_loading import load_teacher


class ToyTask(toy_task.ToyTask):
    """Classifies sequences of different lengths."""

    def __init__(self, starting_point):
        super().__init__(starting_point, labels=("no", "yes"))

    def length(self, number):
        return 2 + number % (self.max_seq_length - 2)

    def label(self, number):
        return number % 2

    def create_model(self, bert_config, **arguments):
        return create_model(bert_config, **arguments)


def create_model(bert_config, **arguments):
    """Returns a classifier of two labels."""
    return modeling.BertClassifier(bert_config, 2, **arguments)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """A folder with a teacher of 4 blocks, wider than its student."""
    folder = tmp_path_factory.mktemp("teacher")
    config_file = write_config(
        folder / "config.json", hidden_size=48, num_hidden_layers=4
    )
    bert_config = modeling.load_config(config_file)
    model = built(modeling.BertClassifier(bert_config, 2, seed=5))
    modeling.save_release(model, folder / "tf1", labels=["no", "yes"])
    modeling.save_huggingface(model, folder / "hf", labels=["no", "yes"])
    return folder


def create_flags(folder, teacher):
    """Returns flags of a student of two blocks, which saves every step."""
    return toy_task.create_run_flags(
        folder,
        num_hidden_layers=2,
        max_seq_length=ToyTask.max_seq_length,
        learning_rate=1e-2,
        num_train_epochs=2,
        save_checkpoints_steps=1,
        keep_checkpoint_max=0,
        do_train=True,
        teacher=str(teacher / "tf1"),
    )


@pytest.fixture
def flags(tmp_path, teacher):
    """Flags of a student in the folder of the test."""
    return create_flags(tmp_path, teacher)


@dataclasses.dataclass(frozen=True)
class StudentRun:
    """A run of six steps.

    Attributes:
        flags: its flags.
        learns_from_blocks: whether it learns from the teacher's blocks too.
    """

    flags: script_runner.Flags
    learns_from_blocks: bool


@pytest.fixture(scope="module", params=[False, True], ids=["outputs", "blocks"])
def student_run(request, tmp_path_factory, teacher):
    """A finished StudentRun. No test may change its folder."""
    folder = tmp_path_factory.mktemp("student")
    flags = create_flags(folder, teacher)
    flags["distill_hidden"] = request.param
    toy_task.run_task(ToyTask, flags)
    return StudentRun(flags, request.param)


@pytest.fixture
def flags_of_killed_run(student_run, tmp_path):
    """Flags that resume the run as a kill after step 2 leaves it.

    The kill lost its records, too.
    """
    killed = tmp_path / "killed"
    killed.mkdir()
    for file in Path(student_run.flags["output_dir"]).iterdir():
        if "ckpt-2." in file.name or file.name == model_json.MODEL_JSON_FILE:
            shutil.copy(file, killed)
    return student_run.flags | {"output_dir": str(killed)}


@pytest.mark.slow
def test_only_learning_from_blocks_trains_a_kernel_of_the_distillation(
    student_run,
):
    weights = read_checkpoint(student_run.flags["output_dir"], 6)
    has_kernel = "distillation/kernel/adam_m" in weights
    assert has_kernel == student_run.learns_from_blocks


@pytest.mark.slow
def test_a_resumed_run_ends_with_the_same_bits(
    student_run, flags_of_killed_run
):
    toy_task.run_task(ToyTask, flags_of_killed_run)
    assert_same_bits(
        read_checkpoint(flags_of_killed_run["output_dir"], 6),
        read_checkpoint(student_run.flags["output_dir"], 6),
    )


@pytest.mark.slow
def test_a_run_is_not_resumed_with_another_teacher(
    flags_of_killed_run, teacher
):
    flags = flags_of_killed_run | {"teacher": str(teacher / "hf")}
    with pytest.raises(ValueError, match="teacher="):
        toy_task.run_task(ToyTask, flags)


def create_starting_point(flags, bert_config):
    """Returns the start of a student with this configuration."""
    config = toy_task.create_command(flags).config
    return toy_task.create_starting_point(config, bert_config)


def test_a_teacher_keeps_its_network(flags, teacher, tmp_path):
    folder = shutil.copytree(teacher / "tf1", tmp_path / "teacher")
    settings = '{"settings": {"left_to_right": true}}'
    text = f'{{"version": 1, "origin": {settings}}}'
    (folder / model_json.MODEL_JSON_FILE).write_text(text)
    model_options = {}

    def note(bert_config, **arguments):
        model_options.update(arguments)
        return create_model(bert_config, **arguments)

    flags = flags | {"teacher": str(folder)}
    load_teacher(
        create_starting_point(flags, modeling.load_config(folder)), note
    )
    assert model_options["left_to_right"]


def test_a_teacher_of_another_vocabulary_size_is_refused(flags, teacher):
    bert_config = modeling.load_config(teacher / "tf1")
    student_config = dataclasses.replace(bert_config, vocab_size=9)
    with pytest.raises(ValueError, match="vocab_size"):
        load_teacher(create_starting_point(flags, student_config), create_model)


@pytest.mark.parametrize(
    ("labels", "culprit"),
    [([], "cls/squad/output_weights"), (["yes", "no"], "labels")],
)
def test_a_teacher_of_another_shape_or_task_is_refused(
    flags, teacher, labels, culprit
):
    bert_config = modeling.load_config(teacher / "hf")
    starting_point = create_starting_point(flags, bert_config)
    with pytest.raises(ValueError, match=culprit):
        load_teacher(starting_point, modeling.BertSpanLabeler, labels)


@pytest.fixture
def load_tagger_as_teacher(flags, tmp_path):
    """(**more_flags) -> the teacher of a text classifier, a tagger of words.

    The outputs of both have the same names.
    """
    labels = ["no", "yes"]
    bert_config = modeling.load_config(flags["bert_config_file"])
    tagger = built(modeling.BertTokenClassifier(bert_config, len(labels)))
    modeling.save_huggingface(tagger, tmp_path / "tagger", labels=labels)
    changes = {"teacher": str(tmp_path / "tagger"), "data_dir": None}

    def load(**more_flags):
        config = ClassifierConfig.from_values(**flags | changes, **more_flags)
        starting_point = toy_task.create_starting_point(config, bert_config)
        return load_teacher(starting_point, create_model, [labels])

    return load


def test_a_teacher_with_a_head_of_another_kind_is_refused(
    load_tagger_as_teacher,
):
    with pytest.raises(ValueError, match="BertTokenClassifier"):
        load_tagger_as_teacher()


def test_a_teachers_last_block_may_be_learned_whatever_its_head_is(
    load_tagger_as_teacher,
):
    assert load_tagger_as_teacher(distill_alpha=0.0)


@pytest.mark.slow
def test_pretraining_learns_from_a_teacher(pretraining_flags, tmp_path):
    bert_config = modeling.load_config(write_config(tmp_path / "two.json"))
    model = built(modeling.BertPretrainer(bert_config, seed=5))
    modeling.save_release(model, tmp_path / "teacher")
    flags = pretraining_flags | split_flags("""
        --teacher=teacher --init_layers=1 --distill_hidden --output_dir=student
        --do_train --do_eval --num_train_steps=3 --summary_steps=0
    """)
    done = script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert "masked_lm_accuracy" in done.stderr
    settings = read_preset(tmp_path / "student").training_settings.inputs
    assert settings["teacher"][0][0].startswith("bert_model.ckpt")


VOCABULARY = (SAMPLES / "vocab.txt").read_text()
MODEL_JSON = {
    "version": 1,
    "origin": {"settings": {"output_mode": "multilabel"}},
}


@pytest.mark.parametrize(
    ("file", "text", "culprit"),
    [
        (
            "vocab.txt",
            VOCABULARY.replace("\nthe\n", "\nelse\n"),
            "--vocab_file",
        ),
        (
            "tokenizer_config.json",
            '{"do_lower_case": false}',
            "do_lower_case=False",
        ),
        ("model.json", json.dumps(MODEL_JSON), "output_mode=multilabel"),
    ],
    ids=["vocabulary", "casing", "output mode"],
)
def test_a_teacher_of_other_texts_or_outputs_is_refused(
    tmp_path, file, text, culprit
):
    bert_config = tiny_config()
    teacher = tmp_path / "teacher"
    teacher.mkdir()
    (teacher / "bert_config.json").write_text(bert_config.to_json_string())
    (teacher / "vocab.txt").write_text(VOCABULARY)
    (teacher / file).write_text(text)
    config = toy_task.create_config(
        tmp_path / "new", teacher=str(teacher), do_train=True
    )
    starting_point = toy_task.create_starting_point(
        config, bert_config, toy_task.load_tokenizer()
    )
    with pytest.raises(ValueError, match=culprit):
        load_teacher(starting_point, create_model, output_mode="regression")
