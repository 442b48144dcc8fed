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


def precision(workload: timing.Workload) -> torch.autocast:
    """Returns a context manager that, for "autocast", computes in bfloat16.

    For other variants, it changes nothing.
    """
    is_mixed = workload["variant"] == "autocast"
    return torch.autocast(workload["device"], torch.bfloat16, enabled=is_mixed)


def with_precision(
    model: torch.nn.Module, workload: timing.Workload
) -> torch.nn.Module:
    """Returns the model on the device, with weights in the variant's type."""
    model = model.to(workload["device"])
    if workload["variant"] == "bfloat16":
        return model.to(torch.bfloat16)
    if workload["variant"] == "int8":
        # Quantize weights now, and activations while the model runs.
        return torch.ao.quantization.quantize_dynamic(
            model, {torch.nn.Linear}, torch.qint8
        )
    return model


def create_inputs(
    workload: timing.Workload,
) -> tuple[transformers.BertConfig, dict[str, torch.Tensor]]:
    """Returns a BertConfig, and a batch of random ids without padding."""
    config = transformers.BertConfig(**timing.read_config(workload))
    inputs = timing.random_inputs(workload, config.vocab_size)
    inputs["attention_mask"] = inputs.pop("input_mask")
    inputs["token_type_ids"] = inputs.pop("segment_ids")
    return config, {
        name: torch.from_numpy(value).long().to(workload["device"])
        for name, value in inputs.items()
    }


def create_training_work(
    model: torch.nn.Module,
    workload: timing.Workload,
    batches: Iterator[dict[str, torch.Tensor]],
) -> timing.Work:
    """Returns a Work that trains a model, one step for each of `batches`."""
    model = model.to(workload["device"]).train()
    optimizer = torch.optim.AdamW(
        model.parameters(), 5e-5, eps=1e-6, weight_decay=0.01
    )

    def repeat(num_steps: int) -> None:
        for _, batch in zip(range(num_steps), batches, strict=False):
            with precision(workload):
                loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    return timing.Work(repeat, workload["batch_size"])


def pretrain(workload: timing.Workload) -> timing.Work:
    """Pretrains BERT on random instances without padding."""
    config, batch = create_inputs(workload)
    positions = torch.from_numpy(timing.masked_positions(workload)).long()
    labels = torch.full_like(batch["input_ids"], -100)
    labels[:, positions] = batch["input_ids"][:, positions]
    batch["labels"] = labels
    batch["next_sentence_label"] = batch["input_ids"][:, 0] % 2
    model = transformers.BertForPreTraining(config)
    return create_training_work(model, workload, iter(lambda: batch, None))


def inference(workload: timing.Workload) -> timing.Work:
    """Runs the forward pass of an encoder with random weights."""
    config, inputs = create_inputs(workload)
    model = with_precision(transformers.BertModel(config).eval(), workload)

    def repeat(num_steps: int) -> None:
        with torch.no_grad(), precision(workload):
            for _ in range(num_steps):
                # Wait for the output of a GPU, as the other contestants do.
                model(**inputs).to_tuple()[0].cpu()

    return timing.Work(repeat, workload["batch_size"])


def mrpc(workload: timing.Workload) -> timing.Work:
    """Fine-tunes MiniLM on MRPC's train set, in shuffled batches."""
    folder = workload["minilm_dir"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    length = workload["seq_length"]
    examples = [
        {"labels": int(row[0])}
        | tokenizer(*row[3:5], truncation=True, max_length=length).data
        for row in timing.read_mrpc_rows(workload)
    ]
    loader = torch.utils.data.DataLoader(
        examples,
        workload["batch_size"],
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

    return create_training_work(model, workload, batches())


def answer(workload: timing.Workload) -> timing.Work:
    """Answers questions of SQuAD, like the package's example scripts."""
    folder = workload["minilm_dir"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder)
    model = with_precision(model.eval(), workload)
    pairs = timing.read_first_pairs(workload)

    def repeat(_: int) -> None:
        windows = create_windows(workload, tokenizer, pairs)
        logits = list(compute_logits(workload, model, tokenizer, windows))
        list(decode(pairs, windows, logits))

    windows = create_windows(workload, tokenizer, pairs)
    return timing.Work(repeat, len(windows["input_ids"]))


def create_windows(
    workload: timing.Workload,
    tokenizer: transformers.PreTrainedTokenizerBase,
    pairs: Sequence[tuple[str, str]],
) -> transformers.BatchEncoding:
    """Returns the windows of all (question, context) pairs."""
    return tokenizer(
        [question for question, _ in pairs],
        [context for _, context in pairs],
        truncation="only_second",
        max_length=workload["seq_length"],
        # Successive windows share this number of tokens. --doc_stride in this
        # project is instead the distance between their starts.
        stride=128,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )


def compute_logits(
    workload: timing.Workload,
    model: torch.nn.Module,
    tokenizer: transformers.PreTrainedTokenizerBase,
    windows: transformers.BatchEncoding,
) -> Iterator[Logits]:
    """Yields the logits of each window, which are computed in batches."""
    batch_size = workload["batch_size"]
    for start in range(0, len(windows["input_ids"]), batch_size):
        chosen = slice(start, start + batch_size)
        batch = tokenizer.pad(
            {
                name: windows[name][chosen]
                for name in tokenizer.model_input_names
            },
            return_tensors="pt",
        )
        with torch.no_grad(), precision(workload):
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


def classify(workload: timing.Workload) -> timing.Work:
    """Classifies texts with the package's pipeline."""
    folder = workload["minilm_dir"]
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2
    )
    pipeline = transformers.pipeline(
        "text-classification",
        model=with_precision(model.eval(), workload),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        device="cpu",
    )
    work = timing.create_mrpc_work(
        workload,
        lambda texts: pipeline(
            texts,
            batch_size=workload["batch_size"],
            truncation=True,
            top_k=None,
        ),
    )
    # Enter the context once per repeat, because it caches converted weights.
    return work._replace(repeat=precision(workload)(work.repeat))


def bulk(workload: timing.Workload) -> timing.Work:
    """Runs a script that classifies the texts of a file with the pipeline."""
    folder = f"{workload['folder']}/model"
    transformers.AutoModelForSequenceClassification.from_pretrained(
        workload["minilm_dir"], num_labels=2
    ).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(
        workload["minilm_dir"], model_max_length=workload["seq_length"]
    ).save_pretrained(folder)
    command = [sys.executable, "-m", "benchmarks.classify_csv", "transformers"]
    command += [workload["variant"], folder]
    return tickets.create_tickets_work(
        workload, lambda path, _, output: [*command, path, output]
    )


def words(workload: timing.Workload) -> timing.Work:
    """Tokenizes the corpus with the package tokenizers, in several threads."""
    lines, num_mb = timing.read_corpus(workload)
    tokenizer = tokenizers.BertWordPieceTokenizer(
        workload["vocab_file"], lowercase=True
    )

    def repeat(_: int) -> None:
        tokenizer.encode_batch(lines, add_special_tokens=False)

    return timing.Work(repeat, num_mb)
