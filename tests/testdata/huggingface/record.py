"""Records what transformers computes with tiny random models of each head.

    python record.py [MiniLM's folder]    # needs torch and transformers

Writes, beside this file, a folder for each class as `save_pretrained` makes
it, and outputs.npz: the inputs, `CLASS/OUTPUT` of each model; the first
one's weights as torch.save writes them (pytorch_model.bin); and
minilm.npz, the same of the real weights where their folder is given.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import transformers

HERE = Path(__file__).parent
CLASSES = {
    "BertModel": ("last_hidden_state", "pooler_output"),
    "BertForPreTraining": ("prediction_logits", "seq_relationship_logits"),
    "BertForMaskedLM": ("logits",),
    "BertForSequenceClassification": ("logits",),
    "BertForTokenClassification": ("logits",),
    "BertForQuestionAnswering": ("start_logits", "end_logits"),
    "BertForMultipleChoice": ("logits",),
}
BATCH = 3
CHOICES = 2
LENGTH = 10
VOCAB = 24


def create_inputs(rng):
    """Returns inputs of the names that transformers gives them."""
    lengths = np.array([10, 7, 1])
    return {
        "input_ids": rng.integers(0, VOCAB, (BATCH, LENGTH)),
        "attention_mask": (np.arange(LENGTH) < lengths[:, None]).astype(int),
        "token_type_ids": rng.integers(0, 2, (BATCH, LENGTH)),
    }


def record_minilm(folder):
    """Records what MiniLM computes of one pair, padded."""
    # [CLS] the cat sat on the mat . [SEP]
    first = [101, 1996, 4937, 2938, 2006, 1996, 13523, 1012, 102]
    # it slept . [SEP]
    second = [2009, 7771, 1012, 102]
    padding = [0, 0]
    recorded = {
        "input_ids": [[*first, *second, *padding]],
        "attention_mask": [[1] * 13 + [0] * 2],
        "token_type_ids": [[0] * 9 + [1] * 4 + [0] * 2],
    }
    model = transformers.BertModel.from_pretrained(folder).eval()
    with torch.no_grad():
        result = model(**{k: torch.tensor(v) for k, v in recorded.items()})
    for output in CLASSES["BertModel"]:
        recorded[f"BertModel/{output}"] = result[output].numpy()
    np.savez_compressed(HERE / "minilm.npz", **recorded)


def record_pickled(model):
    """Writes a model's weights as torch.save does, one of them transposed."""
    state = model.state_dict(keep_vars=True)
    name = "encoder.layer.0.output.dense.weight"
    state[name] = state[name].data.t().contiguous().t()
    state["embeddings.position_ids"] = torch.arange(12)[None]
    torch.save(state, HERE / "pytorch_model.bin")


def main():
    """Makes the models and records what they compute."""
    if len(sys.argv) > 1:
        record_minilm(sys.argv[1])
    rng = np.random.default_rng(0)
    recorded = create_inputs(rng)
    inputs = {name: torch.tensor(value) for name, value in recorded.items()}
    for seed, (name, outputs) in enumerate(CLASSES.items()):
        torch.manual_seed(seed)
        config = transformers.BertConfig(
            vocab_size=VOCAB,
            hidden_size=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=12,
            max_position_embeddings=12,
            initializer_range=0.5,
            hidden_act="gelu_new" if name == "BertForPreTraining" else "gelu",
        )
        if name.endswith("Classification"):
            config.id2label = {0: "no", 1: "yes", 2: "maybe"}
            config.label2id = {"no": 0, "yes": 1, "maybe": 2}
        model = getattr(transformers, name)(config).eval()
        for parameter in model.parameters():
            # Biases and normalisations start at trivial values.
            parameter.data += 0.2 * torch.randn_like(parameter)
        given = inputs
        if name == "BertForMultipleChoice":
            # The second choice is the first one read backwards.
            given = {
                key: torch.stack([value, value.flip(0)], 1)
                for key, value in inputs.items()
            }
        with torch.no_grad():
            result = model(**given)
        for output in outputs:
            recorded[f"{name}/{output}"] = result[output].numpy()
        model.save_pretrained(HERE / name)
        if name == "BertModel":
            record_pickled(model)
    np.savez_compressed(HERE / "outputs.npz", **recorded)


if __name__ == "__main__":
    main()
