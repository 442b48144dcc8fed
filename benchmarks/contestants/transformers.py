"""Hugging Face's transformers in torch as a contestant."""

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import tokenizers
import torch
import transformers

from benchmarks import tickets, timing

PACKAGES = ["transformers", "tokenizers", "torch"]

# (start logits, end logits) of a window.
Logits: TypeAlias = tuple[np.ndarray, np.ndarray]


def precision(spec: timing.WorkSpec) -> torch.autocast:
    """Returns a context manager that, for "autocast", computes in bfloat16.

    For other variants, it changes nothing.
    """
    is_mixed = spec["variant"] == "autocast"
    return torch.autocast(spec["device"], torch.bfloat16, enabled=is_mixed)


def with_precision(
    model: torch.nn.Module, spec: timing.WorkSpec
) -> torch.nn.Module:
    """Returns the model on the device, with weights in the variant's type."""
    model = model.to(spec["device"])
    if spec["variant"] == "bfloat16":
        return model.to(torch.bfloat16)
    if spec["variant"] == "int8":
        # Quantize weights now, and activations while the model runs.
        return torch.ao.quantization.quantize_dynamic(
            model, {torch.nn.Linear}, torch.qint8
        )
    return model


def create_inputs(
    spec: timing.WorkSpec,
) -> tuple[transformers.BertConfig, dict[str, torch.Tensor]]:
    """Returns a BertConfig, and a batch of random ids without padding."""
    config = transformers.BertConfig(**timing.read_config(spec))
    inputs = timing.random_inputs(spec, config.vocab_size)
    inputs["attention_mask"] = inputs.pop("input_mask")
    inputs["token_type_ids"] = inputs.pop("segment_ids")
    return config, {
        name: torch.from_numpy(value).long().to(spec["device"])
        for name, value in inputs.items()
    }


def create_training_work(
    model: torch.nn.Module,
    spec: timing.WorkSpec,
    batches: Iterator[dict[str, torch.Tensor]],
) -> timing.Work:
    """Returns a Work that trains a model, one step for each of `batches`."""
    model = model.to(spec["device"]).train()
    optimizer = torch.optim.AdamW(
        model.parameters(), 5e-5, eps=1e-6, weight_decay=0.01
    )

    def repeat(num_steps: int) -> None:
        for _, batch in zip(range(num_steps), batches, strict=False):
            with precision(spec):
                loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    return timing.Work(repeat, spec["batch_size"])


def pretrain(spec: timing.WorkSpec) -> timing.Work:
    """Pretrains BERT on random instances without padding."""
    config, batch = create_inputs(spec)
    positions = torch.from_numpy(timing.masked_positions(spec)).long()
    labels = torch.full_like(batch["input_ids"], -100)
    labels[:, positions] = batch["input_ids"][:, positions]
    batch["labels"] = labels
    batch["next_sentence_label"] = batch["input_ids"][:, 0] % 2
    model = transformers.BertForPreTraining(config)
    return create_training_work(model, spec, iter(lambda: batch, None))


def inference(spec: timing.WorkSpec) -> timing.Work:
    """Runs the forward pass of an encoder with random weights."""
    config, inputs = create_inputs(spec)
    model = with_precision(transformers.BertModel(config).eval(), spec)

    def repeat(num_steps: int) -> None:
        with torch.no_grad(), precision(spec):
            for _ in range(num_steps):
                # Wait for the output of a GPU, as the other contestants do.
                model(**inputs).to_tuple()[0].cpu()

    return timing.Work(repeat, spec["batch_size"])


def mrpc(spec: timing.WorkSpec) -> timing.Work:
    """Fine-tunes MiniLM on MRPC's train set, in shuffled batches."""
    folder = spec["minilm_dir"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    length = spec["seq_length"]
    examples = [
        {"labels": int(row[0])}
        | tokenizer(*row[3:5], truncation=True, max_length=length).data
        for row in timing.read_mrpc_rows(spec)
    ]
    loader = torch.utils.data.DataLoader(
        examples,
        spec["batch_size"],
        shuffle=True,
        drop_last=True,
        collate_fn=transformers.DataCollatorWithPadding(tokenizer),
    )
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2
    )

    def batches() -> Iterator[dict[str, torch.Tensor]]:
        while True:
            yield from loader

    return create_training_work(model, spec, batches())


def answer(spec: timing.WorkSpec) -> timing.Work:
    """Answers questions of SQuAD, like the package's example scripts."""
    folder = spec["minilm_dir"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder)
    model = with_precision(model.eval(), spec)
    pairs = timing.read_first_pairs(spec)

    def repeat(_: int) -> None:
        windows = create_windows(spec, tokenizer, pairs)
        logits = list(compute_logits(spec, model, tokenizer, windows))
        list(decode(pairs, windows, logits))

    windows = create_windows(spec, tokenizer, pairs)
    return timing.Work(repeat, len(windows["input_ids"]))


def create_windows(
    spec: timing.WorkSpec,
    tokenizer: transformers.PreTrainedTokenizerBase,
    pairs: Sequence[tuple[str, str]],
) -> transformers.BatchEncoding:
    """Returns the windows of all (question, context) pairs."""
    return tokenizer(
        [question for question, _ in pairs],
        [context for _, context in pairs],
        truncation="only_second",
        max_length=spec["seq_length"],
        # Successive windows share this number of tokens. --doc_stride in this
        # project is instead the distance between their starts.
        stride=128,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )


def compute_logits(
    spec: timing.WorkSpec,
    model: torch.nn.Module,
    tokenizer: transformers.PreTrainedTokenizerBase,
    windows: transformers.BatchEncoding,
) -> Iterator[Logits]:
    """Yields the logits of each window, which are computed in batches."""
    batch_size = spec["batch_size"]
    for start in range(0, len(windows["input_ids"]), batch_size):
        chosen = slice(start, start + batch_size)
        batch = tokenizer.pad(
            {
                name: windows[name][chosen]
                for name in tokenizer.model_input_names
            },
            return_tensors="pt",
        )
        with torch.no_grad(), precision(spec):
            outputs = model(**batch)
        logits = outputs.start_logits.float(), outputs.end_logits.float()
        yield from zip(*map(torch.Tensor.numpy, logits), strict=True)


def decode(
    pairs: Sequence[tuple[str, str]],
    windows: transformers.BatchEncoding,
    logits: Iterable[Logits],
) -> Iterator[list[str]]:
    """Yields a list of the texts of the 20 best answers for each question.

    Args:
        pairs: (question, context) pairs.
        windows: windows of all pairs, which the tokenizer created.
        logits: (start logits, end logits) of each window.
    """
    candidates: list[list[tuple[float, int, int]]] = [[] for _ in pairs]
    for index, (starts, ends) in enumerate(logits):
        question = windows["overflow_to_sample_mapping"][index]
        offsets = windows["offset_mapping"][index]
        in_context = windows.sequence_ids(index)
        for start, end in itertools.product(
            starts.argsort()[:-21:-1].tolist(), ends.argsort()[:-21:-1].tolist()
        ):
            if (
                max(start, end) < len(offsets)
                and start <= end < start + 30
                and in_context[start] == in_context[end] == 1
            ):
                score = starts[start] + ends[end]
                span = offsets[start][0], offsets[end][1]
                candidates[question].append((score, *span))
    for answers, (_, context) in zip(candidates, pairs, strict=True):
        best = sorted(answers, reverse=True)[:20]
        yield [context[start:end] for _, start, end in best]


def classify(spec: timing.WorkSpec) -> timing.Work:
    """Classifies texts with the package's pipeline."""
    folder = spec["minilm_dir"]
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2
    )
    pipeline = transformers.pipeline(
        "text-classification",
        model=with_precision(model.eval(), spec),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        device="cpu",
    )
    work = timing.create_mrpc_work(
        spec,
        lambda texts: pipeline(
            texts, batch_size=spec["batch_size"], truncation=True, top_k=None
        ),
    )
    # Enter the context once per repeat, because it caches converted weights.
    return work._replace(repeat=precision(spec)(work.repeat))


def bulk(spec: timing.WorkSpec) -> timing.Work:
    """Runs a script that classifies the texts of a file with the pipeline."""
    folder = f"{spec['folder']}/model"
    transformers.AutoModelForSequenceClassification.from_pretrained(
        spec["minilm_dir"], num_labels=2
    ).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(
        spec["minilm_dir"], model_max_length=spec["seq_length"]
    ).save_pretrained(folder)
    command = [sys.executable, "-m", "benchmarks.classify_csv", "transformers"]
    command += [spec["variant"], folder]
    return tickets.create_tickets_work(
        spec, lambda path, _, output: [*command, path, output]
    )


def words(spec: timing.WorkSpec) -> timing.Work:
    """Tokenizes the corpus with the package tokenizers, in several threads."""
    lines, num_mb = timing.read_corpus(spec)
    tokenizer = tokenizers.BertWordPieceTokenizer(
        spec["vocab_file"], lowercase=True
    )

    def repeat(_: int) -> None:
        tokenizer.encode_batch(lines, add_special_tokens=False)

    return timing.Work(repeat, num_mb)
