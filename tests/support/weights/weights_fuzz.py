"""Opens models with changed files, in a process of its own.

    python -m tests.support.weights.weights_fuzz FOLDER SEED FIRST LAST

Prints a JSON line before and after each case, so that the last line shows which
case ended the process. Each case is the same in every process.
"""

import contextlib
import faulthandler
import json
import os
import resource
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from files.paths import StrPath
from tests.support.paths import ROOT
from tests.support.weights import changed_files

# Seconds after which a case hangs, and its process ends.
_HANGS = 60
# Bytes of memory of the process, with TensorFlow.
MEMORY = 1_500_000_000
WEIGHTS = ROOT / "tests/testdata/weights"
# Folders that do not name their task.
_UNNAMED = ("saved", "v1_items")
_VOCAB = "".join(
    f"{word}\n"
    for word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijk")
)
# A model.json as a run writes it, but without most flags.
_RUN = {
    "version": 1,
    "best_step": 3,
    "task": {
        "name": "BertClassifier",
        "labels": ["no", "yes"],
        "max_seq_length": 8,
        "output_mode": "classification",
        "num_texts": 1,
        "trim_padding": True,
    },
    "origin": {
        "script": "run_classifier.py",
        "command": {"data_file": "t.csv"},
        "settings": {
            "bert_config": {},
            "data": [["train", "t.csv", 5, 7], ["eval", "t.csv", 3, 7]],
            "flags": {"dev_fraction": 0.1, "seed": 1, "trim_padding": True},
            "labels": ["no", "yes"],
            "left_to_right": False,
            "tokenizer": {"do_lower_case": True},
        },
        "versions": {"keras": "3"},
    },
}


def create_folders(place: Path) -> None:
    """Writes a folder of each kind."""
    import modeling
    from data.text.tokenization import FullTokenizer
    from tests.support.models import SMALL

    vocab = place / "vocab.txt"
    vocab.write_text(_VOCAB)
    tokenizer = FullTokenizer(vocab)
    model = modeling.BertClassifier(SMALL, 2)
    model.build()
    labels = ["no", "yes"]
    run = json.loads(json.dumps(_RUN))
    run["origin"]["settings"]["bert_config"] = SMALL.to_dict()
    files = {"model.json": json.dumps(run)}
    options: dict[str, Any] = {"labels": labels, "tokenizer": tokenizer}
    modeling.save_release(model, place / "release", **options, files=files)
    modeling.save_huggingface(model, place / "theirs", **options)
    _write_more(place / "theirs")
    shutil.copytree(place / "theirs", place / "shards")
    _write_shards(place / "shards")
    for name in ("kerashub/classifier", "modelgarden/v1_items"):
        shutil.copytree(WEIGHTS / name, place / Path(name).name)
    shutil.copytree(place / "classifier", place / "parts")
    write_kerashub_shards(place / "parts")
    for name in ("BertForSequenceClassification", "sharded"):
        shutil.copytree(WEIGHTS / "transformers4" / name, place / name)
    saved = place / "saved"
    shutil.copytree(WEIGHTS / "modelgarden/hub_v2_mlm", saved)
    (saved / "saved_model.pb").write_bytes(b"not read")
    for folder in place.iterdir():
        if folder.is_dir() and not any(folder.rglob("vocab*.txt")):
            more_words = "".join(f"w{number}\n" for number in range(40))
            (folder / "vocab.txt").write_text(_VOCAB + more_words)


def _write_more(folder: Path) -> None:
    """Writes all the other JSON files that readers know."""
    words = {"additional_special_tokens": ["a"], "cls_token": "[CLS]"}
    (folder / "special_tokens_map.json").write_text(json.dumps(words))
    (folder / "added_tokens.json").write_text('{"a": 5}')
    kind = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{kind}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kind}.Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    text = '{"max_seq_length": 8, "do_lower_case": false}'
    (folder / "sentence_bert_config.json").write_text(text)
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_mean_tokens": True, "word_embedding_dimension": 4}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))


def _write_shards(folder: Path) -> None:
    import safetensors.numpy

    file = folder / "model.safetensors"
    tensors = safetensors.numpy.load_file(file)
    file.unlink()
    places: dict[str, str] = {}
    for number in range(2):
        place = f"model-{number}.safetensors"
        part = {name: tensors[name] for name in sorted(tensors)[number::2]}
        safetensors.numpy.save_file(part, folder / place)
        places |= dict.fromkeys(part, place)
    index = {"metadata": {"total_size": 5}, "weight_map": places}
    (folder / f"{file.name}.index.json").write_text(json.dumps(index))


def write_kerashub_shards(folder: Path) -> Path:
    """Writes a preset's weights in two files. Returns the index."""
    import h5py

    source = folder / "model.weights.h5"
    places: dict[str, Any] = {}
    with h5py.File(source) as file:
        names: list[str] = []
        file.visit(names.append)
        names = [name for name in names if isinstance(file[name], h5py.Dataset)]
        for number in range(2):
            place = f"model_0000{number}.weights.h5"
            with h5py.File(folder / place, "w") as part:
                # The datasets of a layer may be in both files.
                for name in names[number::2]:
                    part[name] = file[name][()]
                    group = f"/{name.rpartition('/')[0]}"
                    places.setdefault(group, []).append(place)
    source.unlink()
    for group in ("/layers/embedding/vars", "/layers/position_embedding/vars"):
        [places[group]] = places[group]
    values = {"metadata": {"total_size": 5.0}, "weight_map": places}
    index = folder / "model.weights.json"
    index.write_text(json.dumps(values))
    return index


def _change(folder: Path, random: Generator) -> str:
    """Changes a file of a folder.

    Returns its name.
    """
    endings = (".json", ".safetensors", ".h5", ".index", ".txt")
    files = sorted(
        path for path in folder.rglob("*") if path.name.endswith(endings)
    )
    # Weights have most formats, and would be chosen seldom.
    weights = [
        file
        for file in files
        if file.suffix in (".safetensors", ".h5", ".index")
    ]
    file = changed_files.pick(random, [*files, *weights, *weights])
    if file.suffix == ".h5":
        changed_files.change_h5(file, random)
    elif file.suffix == ".index":
        changed_files.change_bundle(file.with_suffix(""), random)
    else:
        change = {
            ".json": changed_files.change_json,
            ".safetensors": changed_files.change_safetensors,
            ".txt": changed_files.change_bytes,
        }[file.suffix]
        file.write_bytes(change(file.read_bytes(), random))
    return str(file.relative_to(folder))


def _from_preset(folder: Path) -> None:
    import modeling
    from data.text.tokenization import FullTokenizer

    FullTokenizer.from_preset(folder)
    name = "BertClassifier"
    if folder.name in (*_UNNAMED, "sharded"):
        name = "BertPretrainer"
    getattr(modeling, name).from_preset(folder)


def _export(folder: Path) -> None:
    """Prepares an export of the weights in a folder, and writes nothing."""
    from data.text.tokenization import load_tokenizer
    from exporting.export_options import ExportFormatOptions
    from model_folders.reading import settings_check
    from model_folders.reading.preset import read_preset
    from tools.exporting import export_stages
    from tools.exporting.export_config import ExportConfig

    config = ExportConfig(
        model=str(folder),
        export=ExportFormatOptions(export_dir="unused"),
        task="fill-mask" if folder.name in _UNNAMED else None,
    )
    preset = read_preset(folder, "--model")
    model_class = export_stages.choose_class_to_export(config, preset)
    export_stages.settings_of_head(preset, model_class)
    model = export_stages.load_model_to_export(preset, model_class)
    assert preset.vocab_file
    tokenizer = load_tokenizer(
        preset.vocab_file, None, preset, model.config.vocab_size
    )
    settings_check.check_trained_settings(preset, model.config, tokenizer)
    export_stages.create_options(config, preset, model, tokenizer)


def _start(folder: Path, **switches: object) -> None:
    """Starts run_classifier.py with the weights in a folder, and checks it."""
    from options.parsed_command import ParsedCommand
    from training.config.classifier_config import ClassifierConfig
    from training.preparation import start_checks
    from training.preparation.starting_point_loading import load_starting_point
    from training.run_files.settings_creation import fingerprint_starting_point

    given = {
        "init_checkpoint": str(folder),
        "output_dir": f"{folder}-run",
        "data_file": "t.csv",
        "max_seq_length": 8,
        "task_name": "csv",
        **switches,
    }
    config = ClassifierConfig.from_values(**given)
    starting_point = load_starting_point(ParsedCommand(config, given))
    start_checks.check_start(starting_point)
    fingerprint_starting_point(starting_point)


def _train(folder: Path) -> None:
    _start(folder, do_train=True)


def _evaluate(folder: Path) -> None:
    _start(folder, do_eval=True)


def _teach(folder: Path) -> None:
    """Loads the weights in a folder as those of a teacher."""
    import modeling
    from tests.support.tasks import toy_task
    from training.loop import teacher_loading

    config = toy_task.create_config(
        "unused", do_train=True, teacher=str(folder)
    )
    starting_point = toy_task.create_starting_point(
        config, modeling.load_config(folder)
    )

    def create_model(
        bert_config: modeling.BertConfig, /, **arguments: Any
    ) -> Any:  # noqa: ANN401  no TaskModel, but enough to be loaded
        del arguments["bilstm"]
        return modeling.BertModel(bert_config, **arguments)

    teacher_loading.load_teacher(starting_point, create_model)


def _convert(folder: Path) -> None:
    from options.parsed_command import ParsedCommand
    from tools import convert_checkpoint
    from tools.conversion.convert_checkpoint_config import (
        ConvertCheckpointConfig,
    )

    given: dict[str, Any] = {
        "init_checkpoint": str(folder),
        "output_dir": f"{folder}-copy",
    }
    config = ConvertCheckpointConfig(**given)
    convert_checkpoint.main(ParsedCommand(config, given))


LOADERS = (_from_preset, _export, _train, _evaluate, _teach, _convert)


def _peak_memory() -> int:
    """Returns the peak bytes of memory of this program.

    The number of `getrusage` may be that of the process that started it.
    """
    status = Path("/proc/self/status").read_text()
    (line,) = (
        line for line in status.splitlines() if line.startswith("VmHWM:")
    )
    return int(line.split()[1]) << 10


def run_case(place: Path, seed: int, number: int) -> tuple[str, str]:
    """Returns (kind of folder, changed file, what is wrong or "")."""
    random = np.random.default_rng([seed, number])
    kinds = sorted(path.name for path in place.iterdir() if path.is_dir())
    kind = changed_files.pick(random, kinds)
    folder = place.with_name("cases") / str(number) / kind
    shutil.copytree(place / kind, folder)
    changed = _change(folder, random)
    load = changed_files.pick(random, LOADERS)
    wrong = ""
    try:
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            load(folder)
    except (ValueError, OSError) as error:
        message = str(error)
        if len(message.splitlines()) != 1 or str(folder) not in message:
            wrong = f"{type(error).__name__}: {message[:600]!r}"
    except Exception as error:
        wrong = f"{type(error).__name__}: {str(error)[:600]!r}"
    if not wrong:
        shutil.rmtree(folder.parent)
    return f"{kind}/{changed} {load.__name__}", wrong


def main(
    place: StrPath, seed: str | int, first: str | int, last: str | int
) -> None:
    """Runs the cases, and prints a line before and after each."""
    place = Path(place)
    from absl import logging

    logging.set_verbosity(logging.ERROR)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limited = False
    for number in range(int(first), int(last)):
        print(json.dumps({"case": number}), flush=True)
        faulthandler.dump_traceback_later(_HANGS, exit=True)
        name, wrong = run_case(place, int(seed), number)
        faulthandler.cancel_dump_traceback_later()
        memory = _peak_memory()
        line = {
            "case": number,
            "name": name,
            "wrong": wrong,
            "memory": memory,
        }
        print(json.dumps(line), flush=True)
        if not limited:
            # TensorFlow and its threads are loaded now.
            limited = True
            size = int(Path("/proc/self/statm").read_text().split()[0]) << 12
            limit = size + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main(*sys.argv[1:])
