"""--teacher: its checks, its outputs kept on disk, and an exact resume."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

import modeling
from data.io import feature_specs, tfrecords
from data.io.records import RecordWriter
from modeling import losses
from modeling.model import select_features
from tests import script_runner, toy_task
from tests.checkpoints import assert_same_bits, values
from tests.conftest import write_config
from tests.models import built
from tests.script_runner import parse_flags
from training import fine_tuning, model_folder
from training.callbacks import distillation


class ToyTask(toy_task.ToyTask):
    """Classifies sequences of different lengths."""

    labels = ("no", "yes")

    def __init__(self, first_label=0):
        self.first_label = first_label

    def length(self, number):
        return 2 + number % (self.max_seq_length - 2)

    def label(self, number):
        return self.first_label if number == 5 else number % 2

    def create_model(self, config, **options):
        return modeling.BertClassifier(config, 2, **options)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """A folder with a teacher of 4 blocks, wider than its student."""
    folder = tmp_path_factory.mktemp("teacher")
    config = write_config(
        folder / "config.json", hidden_size=48, num_hidden_layers=4
    )
    config = modeling.load_config(config)
    model = built(modeling.BertClassifier(config, 2, seed=5))
    modeling.save_release(model, folder / "tf1", labels=["no", "yes"])
    modeling.save_huggingface(model, folder / "hf", labels=["no", "yes"])
    return folder


def create_options(folder, teacher):
    return toy_task.create_run(
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
def options(tmp_path, teacher):
    return create_options(tmp_path, teacher)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, teacher):
    """The options of a student that was trained, and its folder."""
    options = create_options(tmp_path_factory.mktemp("student"), teacher)
    fine_tuning.run(ToyTask(), options)
    return options, Path(options.output_dir)


@pytest.mark.slow
@pytest.mark.parametrize("layers", [False, True])
def test_a_resumed_run_ends_with_the_same_bits(
    trained, options, tmp_path, layers
):
    run = trained[1]
    if layers:
        options = dataclasses.replace(options, distill_layers=True)
        fine_tuning.run(ToyTask(), options)
        run = tmp_path / "run"
    expected = values(run, 6)
    assert ("distillation/kernel/adam_m" in expected) == layers
    # As a kill after step 2 leaves it, its records lost too.
    killed = tmp_path / "killed"
    killed.mkdir()
    for file in run.iterdir():
        if "ckpt-2." in file.name or file.name == model_folder.FILE:
            shutil.copy(file, killed)
    fine_tuning.run(
        ToyTask(), dataclasses.replace(options, output_dir=str(killed))
    )
    assert_same_bits(values(killed, 6), expected)


@pytest.mark.slow
def test_outputs_on_disk_are_those_of_the_teacher(trained, teacher):
    model = modeling.BertClassifier(
        modeling.load_config(teacher / "hf"), num_labels=2
    )
    modeling.load_checkpoint(model, teacher / "hf")
    plain = ToyTask().feature_spec("train")
    spec = {**plain, "teacher_outputs": feature_specs.Feature((2,), "float32")}
    batch, same = (
        next(iter(create_dataset(trained[1] / name, features)))
        for name, features in (
            ("train_teacher.tf_record", spec),
            ("train.tf_record", plain),
        )
    )
    np.testing.assert_allclose(
        batch["teacher_outputs"],
        model(select_features(model, batch)),
        rtol=0,
        atol=1e-5,
    )
    for name, value in same.items():
        np.testing.assert_array_equal(batch[name], value)


def create_dataset(path, spec):
    records = tfrecords.Records([str(path)], spec)
    return tfrecords.create_dataset(records, ToyTask.num_examples, False)


@pytest.mark.slow
def test_outputs_are_kept_until_what_they_are_made_from_changes(
    options, tmp_path, teacher
):
    path = tmp_path / "train_teacher.tf_record"

    def written(first_label=0, teacher=teacher / "tf1"):
        """Returns the identity of the file once it is asked for again."""
        task = ToyTask(first_label)
        records = tmp_path / "train.tf_record"
        with RecordWriter([records]) as writer:
            for record in task.encode("train", task.read_examples("train")):
                writer.write(record)
        distillation.Teacher(
            dataclasses.replace(options, teacher=str(teacher)),
            task.create_model,
            task.loss,
        ).add_outputs(
            tfrecords.Records([str(records)], task.feature_spec("train"))
        )
        return path.stat().st_ino

    first = written()
    assert written() == first
    # A label in the middle of the data.
    relabelled = written(first_label=1)
    assert relabelled != first
    # The same weights from another file count as another teacher.
    other = written(first_label=1, teacher=teacher / "hf")
    assert other != relabelled
    # A file that was cut off.
    path.write_bytes(path.read_bytes()[:-9])
    assert written(first_label=1, teacher=teacher / "hf") != other


def test_a_teacher_keeps_its_network(options, tmp_path):
    folder = tmp_path / "teacher"
    config = modeling.load_config(write_config(tmp_path / "teacher.json"))
    model = built(modeling.BertClassifier(config, 2, bilstm=True, seed=5))
    modeling.save_release(model, folder, labels=["no", "yes"])
    (folder / model_folder.FILE).write_text(
        '{"version": 1, "origin": {"settings": {"bilstm": true}}}'
    )
    made = []

    def create_model(config, **options):
        made.append(modeling.BertClassifier(config, 2, **options))
        return made[-1]

    distillation.Teacher(
        dataclasses.replace(options, teacher=str(folder)),
        create_model,
        modeling.ClassifierLoss(),
    )
    names = modeling.named_variables(made[0])
    assert len([name for name in names if name.startswith("bilstm/")]) == 6
    for name, value in modeling.named_variables(model).items():
        # A release holds no state of dropout.
        if not name.startswith("seed_generator/"):
            np.testing.assert_array_equal(names[name], value)


@pytest.mark.slow
def test_another_teacher_does_not_resume(trained, teacher):
    options, folder = trained
    outputs = folder / "train_teacher.tf_record"
    before = outputs.stat()
    with pytest.raises(ValueError, match="contains a run with teacher="):
        fine_tuning.run(
            ToyTask(), dataclasses.replace(options, teacher=str(teacher / "hf"))
        )
    # Refused before that teacher's outputs were computed.
    assert outputs.stat() == before


@pytest.mark.parametrize("form", ["tf1", "hf"])
def test_a_student_starts_from_chosen_blocks(teacher, form):
    config = modeling.load_config(teacher / "hf")
    whole = modeling.BertClassifier(config, 2)
    modeling.load_checkpoint(whole, teacher / form)
    student = modeling.BertClassifier(
        dataclasses.replace(config, num_hidden_layers=3), 2
    )
    report = modeling.load_checkpoint(student, teacher / form, [0, 3, 3])
    assert not report.missing
    assert all("layer" in name for name in report.unused)
    blocks = [model.bert.encoder.blocks for model in (student, whole)]
    for mine, theirs in enumerate([0, 3, 3]):
        for one, other in zip(
            blocks[0][mine].weights, blocks[1][theirs].weights, strict=True
        ):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="for each of the model's 3"):
        modeling.load_checkpoint(student, teacher / form, [0, 1])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"distill_alpha": 0.0}, "ignores --teacher"),
        (
            {"teacher": None, "given_flags": {"distill_alpha": 0.5}},
            "--distill_alpha needs --teacher",
        ),
        ({"init_layers": []}, "names 0 blocks, but the model has 2"),
        ({"init_layers": ["0"]}, "names 1 blocks, but the model has 2"),
        ({"init_layers": ["0", "9"]}, "no block 9; choose from 0 to 3"),
        ({"init_layers": ["a", "0"]}, "must list indices of blocks"),
        ({"max_seq_length": 99}, "more than the 64 positions of --teacher"),
        ({"teacher": None, "init_layers": ["0", "1"]}, "--init_checkpoint or"),
        (
            {"teacher": "config.json"},
            "contains no bert_config.json or config.json",
        ),
    ],
)
def test_contradictions_are_refused_early(options, changes, message):
    config = modeling.load_config(options.bert_config_file)
    with pytest.raises((ValueError, OSError), match=message):
        distillation.check_teacher(
            dataclasses.replace(options, **changes), config
        )


def test_a_teacher_of_another_shape_task_or_folder_is_refused(
    options, tmp_path, teacher
):
    config = modeling.load_config(options.bert_config_file)
    same = dataclasses.replace(options, output_dir=f"{teacher}/hf/../tf1")
    with pytest.raises(ValueError, match="is also the folder of --teacher="):
        distillation.check_teacher(same, config)
    config = modeling.load_config(
        write_config(tmp_path / "config.json", num_attention_heads=4)
    )
    layers = dataclasses.replace(options, distill_layers=True)
    with pytest.raises(ValueError, match="sets num_attention_heads=2"):
        distillation.check_teacher(layers, config)

    def create(config, **kwargs):
        return modeling.BertSpanLabeler(config, **kwargs)

    with pytest.raises(
        ValueError, match="contains no cls/squad/output_weights"
    ):
        distillation.Teacher(options, create, losses.SpanLoss())
    with pytest.raises(ValueError, match="was trained with the labels"):
        distillation.Teacher(
            options, create, losses.ClassifierLoss(), ["yes", "no"]
        )


@pytest.mark.slow
def test_pretraining_learns_from_a_teacher(pretraining_flags, tmp_path):
    config = modeling.load_config(write_config(tmp_path / "two.json"))
    model = built(modeling.BertPretrainer(config, seed=5))
    modeling.save_release(model, tmp_path / "teacher")
    flags = pretraining_flags | parse_flags("""
        --teacher=teacher --init_layers=1 --distill_layers --output_dir=student
        --do_train --do_eval --num_train_steps=3 --summary_steps=0
    """)
    done = script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert "masked_lm_accuracy" in done.stderr
    settings = model_folder.read(tmp_path / "student").settings
    assert settings["teacher"][0][0].startswith("bert_model.ckpt")
