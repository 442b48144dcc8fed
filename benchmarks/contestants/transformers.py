"""Hugging Face's transformers in torch on the CPU."""

import contextlib
import json
import time
from pathlib import Path

import torch
import transformers

from benchmarks.contestants import worker


def precision(spec):
    """Returns the context that the network runs in."""
    if spec["variant"] == "autocast":
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return contextlib.nullcontext()


def in_precision(model, spec):
    """Returns the model with the weights that the variant says."""
    if spec["variant"] == "bfloat16":
        return model.to(torch.bfloat16)
    if spec["variant"] == "int8":
        # torch's own dynamic int8.
        return torch.ao.quantization.quantize_dynamic(
            model, {torch.nn.Linear}, torch.qint8
        )
    return model


def create_config(spec):
    """Returns transformers' configuration of the same sizes."""
    config = json.loads(Path(spec["bert_config_file"]).read_text())
    return transformers.BertConfig(**config)


def create_inputs(spec, config):
    """Returns random sequences without padding."""
    shape = spec["batch_size"], spec["seq_length"]
    return {
        "input_ids": torch.randint(config.vocab_size, shape),
        "attention_mask": torch.ones(shape, dtype=torch.long),
        "token_type_ids": torch.zeros(shape, dtype=torch.long),
    }


def training(model, spec, batches):
    """Returns the work of training on endless batches."""
    model.train()
    optimizer = torch.optim.AdamW(
        model.parameters(), 5e-5, eps=1e-6, weight_decay=0.01
    )

    def repeat(num_steps):
        for _, batch in zip(range(num_steps), batches, strict=False):
            with precision(spec):
                loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

    return worker.Work(repeat, spec["batch_size"])


def pretrain(spec):
    """Training steps on random instances without padding."""
    config = create_config(spec)
    batch = create_inputs(spec, config)
    positions = torch.linspace(
        0, spec["seq_length"] - 1, spec["num_predictions"]
    ).long()
    labels = torch.full_like(batch["input_ids"], -100)
    labels[:, positions] = batch["input_ids"][:, positions]
    batch["labels"] = labels
    batch["next_sentence_label"] = torch.randint(2, (len(labels),))
    model = transformers.BertForPreTraining(config)
    return training(model, spec, iter(lambda: batch, None))


def inference(spec):
    """The encoder's forward pass."""
    config = create_config(spec)
    model = in_precision(transformers.BertModel(config).eval(), spec)
    inputs = create_inputs(spec, config)

    def repeat(num_steps):
        with torch.no_grad(), precision(spec):
            for _ in range(num_steps):
                model(**inputs)

    return worker.Work(repeat, spec["batch_size"])


def mrpc(spec):
    """Training steps on the train set, shuffled, each batch padded."""
    folder = spec["minilm_dir"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = worker.mrpc_rows(spec)
    encoded = tokenizer(
        [row[3] for row in rows],
        [row[4] for row in rows],
        truncation=True,
        max_length=spec["seq_length"],
    )
    examples = [
        {key: encoded[key][index] for key in encoded} | {"labels": int(row[0])}
        for index, row in enumerate(rows)
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

    def batches():
        while True:
            yield from loader

    return training(model, spec, batches())


def squad(spec):
    """Windows, network and decoding, as the package's examples have them."""
    folder = spec["minilm_dir"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder)
    model = in_precision(model.eval(), spec)
    pairs = [
        (question["question"].strip(), paragraph["context"])
        for article in json.loads(Path(spec["squad_file"]).read_text())["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    names = tokenizer.model_input_names
    batch_size = spec["batch_size"]

    def create_windows():
        return tokenizer(
            [question for question, _ in pairs],
            [context for _, context in pairs],
            truncation="only_second",
            max_length=spec["seq_length"],
            # What windows share, which the original's stride is not; few
            # contexts have a second window.
            stride=spec["doc_stride"],
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )

    def network(windows):
        num_windows = len(windows["input_ids"])
        for start in range(0, num_windows, batch_size):
            chosen = slice(start, min(start + batch_size, num_windows))
            batch = tokenizer.pad(
                {name: windows[name][chosen] for name in names},
                return_tensors="pt",
            )
            with torch.no_grad(), precision(spec):
                outputs = model(**batch)
            yield from zip(
                outputs.start_logits.float().numpy(),
                outputs.end_logits.float().numpy(),
                strict=True,
            )

    def repeat(_):
        started = time.perf_counter()
        windows = create_windows()
        windows_seconds = time.perf_counter() - started
        logits = list(network(windows))
        decode(pairs, windows, logits)
        return {"windows_seconds": windows_seconds}

    return worker.Work(repeat, len(create_windows()["input_ids"]))


def decode(pairs, windows, logits, n_best_size=20, max_answer_length=30):
    """Returns the n best answers of each question."""
    found = [[] for _ in pairs]
    for index, (starts, ends) in enumerate(logits):
        question = windows["overflow_to_sample_mapping"][index]
        offsets = windows["offset_mapping"][index]
        in_context = windows.sequence_ids(index)
        for start in starts.argsort()[: -n_best_size - 1 : -1].tolist():
            for end in ends.argsort()[: -n_best_size - 1 : -1].tolist():
                if (
                    max(start, end) < len(offsets)
                    and start <= end < start + max_answer_length
                    and in_context[start] == in_context[end] == 1
                ):
                    found[question].append(
                        (
                            starts[start] + ends[end],
                            offsets[start][0],
                            offsets[end][1],
                        )
                    )
    return [
        [
            context[start:end]
            for _, start, end in sorted(answers, reverse=True)[:n_best_size]
        ]
        for answers, (_, context) in zip(found, pairs, strict=True)
    ]


def classify(spec):
    """The package's pipeline over sentences."""
    folder = spec["minilm_dir"]
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2
    )
    pipeline = transformers.pipeline(
        "text-classification",
        model=in_precision(model.eval(), spec),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        device="cpu",
    )
    rows = worker.mrpc_rows(spec)
    batch_size = spec["batch_size"]

    def repeat(num_steps):
        with precision(spec):
            for batch in worker.batches_of_sentences(
                rows, num_steps, batch_size
            ):
                pipeline(
                    batch, batch_size=batch_size, truncation=True, top_k=None
                )

    return worker.Work(repeat, batch_size)


def matmul(_):
    """The machine's rate of a matrix product in each precision."""
    size = 2048

    def rate(dtype):
        matrix = torch.randn(size, size).to(dtype)
        best = float("inf")
        for _ in range(5):
            started = time.perf_counter()
            matrix @ matrix
            best = min(best, time.perf_counter() - started)
        return 2 * size**3 / best

    dtypes = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    return worker.Work(
        lambda _: {name: rate(dtype) for name, dtype in dtypes.items()}, 0
    )


def versions():
    """Returns the versions of what was timed."""
    return {
        "transformers": transformers.__version__,
        "torch": torch.__version__,
    }


if __name__ == "__main__":
    works = (pretrain, inference, mrpc, squad, classify, matmul)
    worker.serve({work.__name__: work for work in works}, versions)
