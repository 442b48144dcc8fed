"""Records what transformers computes at the width of BERT-Base.

    python record.py    # needs torch and transformers

One layer of 768 units and 12 heads, 128 positions, without dropout, in
float64: outputs, losses, gradients, and the change of the weights after two
steps of the optimizer of the paper's code. Writes numbers.npz beside this
file: of each tensor its norm and 64 of its entries (`sample`). The weights
and inputs are drawn from fixed seeds, here and in the tests.
"""

import re
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CONFIG = {
    "vocab_size": 1100,
    "hidden_size": 768,
    "num_hidden_layers": 1,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 128,
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
BATCH = 2
LENGTH = 128
MASKED = 20
LEARNING_RATE = 1e-3
NUM_STEPS = 2
# The rate falls to 0 at this step.
NUM_TRAIN_STEPS = 100
NUM_SAMPLED = 64


def draw(name: str, shape) -> np.ndarray:
    """Returns the start of a variable, by its name in Google's code.

    The values are those of a network that has been trained for a while, large
    enough that each part of it matters.
    """
    # Unlike newer generators, RandomState never changes its numbers.
    random = np.random.RandomState(zlib.crc32(name.encode()))
    values = random.standard_normal(tuple(shape))
    return 1 + 0.1 * values if name.endswith("gamma") else 0.04 * values


def create_batch(step: int) -> dict[str, np.ndarray]:
    """Returns the features of the batch of a step; row 1 has padding."""
    random = np.random.RandomState(step)
    shape = (BATCH, LENGTH)
    mask = np.ones(shape, np.int32)
    mask[1, 90:] = 0
    weights = np.ones((BATCH, MASKED), np.float32)
    weights[1, 13:] = 0
    return {
        "input_ids": random.randint(1, CONFIG["vocab_size"], shape) * mask,
        "input_mask": mask,
        "segment_ids": (np.arange(LENGTH) >= [[70], [30]]) * mask,
        "masked_lm_positions": np.stack(
            [random.choice(90, MASKED, replace=False) for _ in range(BATCH)]
        ),
        "masked_lm_ids": random.randint(
            1, CONFIG["vocab_size"], (BATCH, MASKED)
        ),
        "masked_lm_weights": weights,
        "next_sentence_labels": np.array([[0], [1]]),
    }


def sample(value) -> np.ndarray:
    """Returns the norm of a tensor and up to 64 of its entries, evenly."""
    flat = np.asarray(value, np.float64).reshape(-1)
    places = np.linspace(0, len(flat) - 1, min(NUM_SAMPLED, len(flat)))
    return np.append(np.linalg.norm(flat), flat[places.astype(int)])


def original_name(name: str) -> str:
    """Returns the name in Google's code of one of transformers'."""
    name = name.replace(".", "/").replace("layer/0", "layer_0")
    name = name.replace("LayerNorm/weight", "LayerNorm/gamma")
    name = name.replace("LayerNorm/bias", "LayerNorm/beta")
    name = name.replace("_embeddings/weight", "_embeddings")
    name = name.replace("predictions/bias", "predictions/output_bias")
    name = re.sub("(seq_relationship)/(weight|bias)", r"\1/output_\2", name)
    name = name.replace("output_weight", "output_weights")
    return name.replace("/weight", "/kernel")


def main() -> None:
    """Runs both steps and writes their numbers."""
    import torch
    import transformers

    config = transformers.BertConfig(
        **CONFIG, hidden_act="gelu_new", attn_implementation="eager"
    )
    model = transformers.BertForPreTraining(config).double().eval()
    parameters = {
        original_name(name): parameter
        for name, parameter in model.named_parameters()
    }

    def ours(name, tensor):
        array = tensor.detach().numpy()
        return array.T if name.endswith("/kernel") else array

    starts = {}
    for name, parameter in parameters.items():
        starts[name] = draw(name, ours(name, parameter).shape)
        value = starts[name].T if name.endswith("/kernel") else starts[name]
        parameter.data = torch.tensor(value)
    slots = {name: [0.0, 0.0] for name in parameters}
    numbers = {}
    for step in range(NUM_STEPS):
        batch = {k: torch.tensor(v) for k, v in create_batch(step).items()}
        found = model(
            input_ids=batch["input_ids"],
            attention_mask=batch["input_mask"],
            token_type_ids=batch["segment_ids"],
            output_hidden_states=True,
        )
        rows = torch.arange(BATCH)[:, None]
        logits = found.prediction_logits[rows, batch["masked_lm_positions"]]
        weights = batch["masked_lm_weights"].double()
        losses = -torch.log_softmax(logits, -1).gather(
            -1, batch["masked_lm_ids"][..., None]
        )
        masked_lm = (losses[..., 0] * weights).sum() / (weights.sum() + 1e-5)
        next_sentence = torch.nn.functional.cross_entropy(
            found.seq_relationship_logits, batch["next_sentence_labels"][:, 0]
        )
        model.zero_grad()
        (masked_lm + next_sentence).backward()
        results = {
            "out/embedding_output": found.hidden_states[0],
            "out/sequence_output": found.hidden_states[1],
            "out/masked_lm_logits": logits,
            "out/next_sentence_logits": found.seq_relationship_logits,
            "out/masked_lm_loss": masked_lm,
            "out/next_sentence_loss": next_sentence,
        }
        for name, parameter in parameters.items():
            results[f"gradient/{name}"] = ours(name, parameter.grad)
        for name, value in results.items():
            if torch.is_tensor(value):
                value = value.detach().numpy()
            numbers[f"{step}/{name}"] = sample(value)
        update(parameters, slots, step)
    for name, parameter in parameters.items():
        change = ours(name, parameter) - starts[name]
        numbers[f"change/{name}"] = sample(change)
    np.savez_compressed(HERE / "numbers.npz", **numbers)


def update(parameters, slots, step: int) -> None:
    """Takes a step of the optimizer as in Google's optimization.py."""
    rate = LEARNING_RATE * (1 - step / NUM_TRAIN_STEPS)
    gradients = {name: p.grad for name, p in parameters.items()}
    norm = sum((g**2).sum() for g in gradients.values()) ** 0.5
    for name, parameter in parameters.items():
        gradient = gradients[name] / max(norm, 1.0)
        m, v = slots[name]
        slots[name] = m, v = (
            0.9 * m + 0.1 * gradient,
            0.999 * v + 0.001 * gradient**2,
        )
        change = m / (v**0.5 + 1e-6)
        if not re.search("LayerNorm|bias", name):
            change = change + 0.01 * parameter.data
        parameter.data = parameter.data - rate * change


if __name__ == "__main__":
    main()
