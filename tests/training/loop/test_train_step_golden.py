"""Training in float64 against recordings of Google's code, step by step."""

import dataclasses

import numpy as np
import pytest

import modeling
from modeling import losses
from tests.support import golden
from tests.support.models import NO_DROPOUT, built
from tests.support.two_weight_model import (
    OnStep,
    create_loop_trainer,
    fit_batches,
)

# Number of examples in each recorded batch.
BATCH_SIZE = 4
# Losses of a step, of which a recording has those of its task.
LOSSES = {"loss", "masked_lm_loss", "next_sentence_loss"}
TASKS = {
    "pretraining_steps.npz": (modeling.BertPretrainer, losses.PretrainingLoss),
    "classifier_steps.npz": (modeling.BertClassifier, losses.ClassifierLoss),
    "squad_steps.npz": (modeling.BertSpanLabeler, losses.SpanLoss),
}


def load_recorded_run(path, output_dir, num_micro_batches=1, **changes):
    """Returns (recording, variables, Trainer) of a recorded task at its start.

    Args:
        path: path of the recording.
        output_dir: folder of the run.
        num_micro_batches: number of parts of each batch, computed in turn.
        **changes: flags of the Trainer.
    """
    recording = np.load(path)
    # The recordings were made without dropout.
    config = dataclasses.replace(
        modeling.BertConfig.from_json_file(path.parent / "bert_config.json"),
        **NO_DROPOUT,
    )
    create_model, create_loss = TASKS[path.name]
    num_labels = {}
    if create_model is modeling.BertClassifier:
        num_labels["num_labels"] = len(recording["init/output_weights"])
    model = built(create_model(config, **num_labels, dtype="float64"))
    # No entry of the configuration changes the dropout of a classifier's head.
    model.head_dropout_prob = 0.0
    modeling.load_checkpoint(model, str(path.parent / "bert_model.ckpt"))
    variables = modeling.named_variables(model)
    for name in recording:
        if name.startswith("init/"):
            variables[name.removeprefix("init/")].assign(recording[name])
    names = ("num_train_steps", "num_warmup_steps")
    trainer = create_loop_trainer(
        output_dir,
        model=model,
        loss=create_loss(),
        num_steps=[int(recording[name]) for name in names],
        learning_rate=float(recording["init_lr"]),
        train_batch_size=BATCH_SIZE // num_micro_batches,
        gradient_accumulation_steps=num_micro_batches,
        **changes,
    )
    return recording, variables, trainer


def batches(recording):
    """Returns the recorded batches."""
    features = {
        name.removeprefix("in/"): recording[name]
        for name in recording
        if name.startswith("in/")
    }
    return [
        {name: values[step] for name, values in features.items()}
        for step in range(len(recording["global_norm"]))
    ]


@pytest.mark.parametrize(
    ("version", "num_micro_batches"),
    [
        pytest.param("plain", 1, marks=pytest.mark.slow),
        ("compiled", 1),
        pytest.param("compiled", 2, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "path",
    [
        param
        for name in TASKS
        for param in golden.path_params(f"models/*/{name}")
    ],
)
def test_training_steps_are_those_that_googles_code_recorded(
    path, version, num_micro_batches, tmp_path
):
    """In plain operations, as compiled, and from two halves of each batch."""
    logs = []
    with golden.compute_in_version(version):
        recording, variables, trainer = load_recorded_run(
            path, tmp_path, num_micro_batches
        )
        look = OnStep(lambda step, values: logs.append(values))
        fit_batches(
            trainer, batches(recording), len(recording["global_norm"]), [look]
        )
    names = sorted(LOSSES & {*recording})
    assert names
    for name in names:
        values = [log[name] for log in logs]
        np.testing.assert_allclose(values, recording[name], rtol=0, atol=1e-7)
    norms = [log["gradient_norm"] for log in logs]
    np.testing.assert_allclose(
        norms, recording["global_norm"], rtol=1e-6, atol=0
    )
    finals = [name for name in recording if name.startswith("final/")]
    assert finals
    for name in finals:
        variable = variables[name.removeprefix("final/")]
        np.testing.assert_allclose(
            variable.numpy(), recording[name], rtol=0, atol=1e-6, err_msg=name
        )


@pytest.mark.slow
def test_several_steps_in_one_call_are_the_same_as_single_steps(tmp_path):
    # What --iterations_per_loop does on a TPU.
    path = golden.path_params("models/*/pretraining_steps.npz")[-1].values[0]
    steps = []
    recording, variables, trainer = load_recorded_run(path, tmp_path, at_once=7)
    look = OnStep(lambda step, values: steps.append(step))
    fit_batches(
        trainer, batches(recording), len(recording["global_norm"]), [look]
    )
    assert steps == [7, 14, 21, 28, 30]
    name = "bert/embeddings/word_embeddings"
    np.testing.assert_allclose(
        variables[name].numpy(), recording[f"final/{name}"], rtol=0, atol=1e-6
    )
