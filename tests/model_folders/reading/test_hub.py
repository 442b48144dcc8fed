"""Models of the Hugging Face hub, from a server on the loopback."""

import hashlib
import http.server
import json
import re
import threading
import urllib.parse

import pytest

from tests.support import fresh_process
from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/huggingface/BertModel"
CONFIG = json.loads((RECORDED / "config.json").read_text())
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS += [f"[unused{number}]" for number in range(CONFIG["vocab_size"] - 5)]
BERT = {
    "config.json": json.dumps(CONFIG).encode(),
    "model.safetensors": (RECORDED / "model.safetensors").read_bytes(),
    "vocab.txt": "\n".join(WORDS).encode(),
    "1_Pooling/config.json": b"{}",
    "added_tokens.json": b'{"[PAD]": 0}',
}
OTHERS = dict.fromkeys(
    ("tf_model.h5", "pytorch_model.bin", "onnx/model.onnx", "README.md"), b"x"
)
PICKLED = {**BERT, "pytorch_model.bin": b"x"}
del PICKLED["model.safetensors"]
PRESET = ROOT / "tests/testdata/weights/kerashub/classifier"
KERASHUB = {
    name: (PRESET / name).read_bytes()
    for name in (
        "config.json",
        "task.json",
        "preprocessor.json",
        "tokenizer.json",
        "assets/tokenizer/vocabulary.txt",
        "model.weights.h5",
        "task.weights.h5",
    )
}
ROBERTA = KERASHUB["config.json"].replace(b"BertB", b"RobertaB")
TENSORFLOW = {**PICKLED, "tf_model.h5": b"x"}
MODELS = {
    "some/kerashub": KERASHUB | {"metadata.json": b"{}", "README.md": b"x"},
    "some/roberta": KERASHUB | {"config.json": ROBERTA},
    "some/bert": BERT | OTHERS,
    "some/private": BERT,
    "some/gated": BERT,
    "some/pickled": PICKLED,
    "some/keras": TENSORFLOW,
    "some/old": {
        name: content
        for name, content in TENSORFLOW.items()
        if not name.endswith("bin")
    },
    "some/gpt": BERT | {"config.json": b'{"model_type": "gpt2"}'},
    "some/empty": OTHERS,
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secret"
# The requests of `snapshot_download` for a revision, for the list of its files
# and for a file.
PATH = re.compile(
    r"(?:/api/models)?/(?P<name>some/\w+)/(?P<kind>revision|tree|resolve)"
    r"/(?P<revision>\w+)(?:/(?P<file>.+))?"
)


class Hub(http.server.BaseHTTPRequestHandler):
    """A server that speaks what `snapshot_download` needs of the hub."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = urllib.parse.unquote(self.path.partition("?")[0])
        match = PATH.fullmatch(path)
        name, kind = (match[1], match[2]) if match else ("", "")
        token = self.headers.get("Authorization")
        files = MODELS.get(name)
        if not files or ("private" in name and token != f"Bearer {TOKEN}"):
            return self.answer(401, error="RepoNotFound")
        if "gated" in name and kind == "resolve":
            return self.answer(403, error="GatedRepo")
        if match["revision"] not in ("main", "v1", COMMIT):
            return self.answer(404, error="RevisionNotFound")
        if kind == "revision":
            revision = {"id": name, "sha": COMMIT}
            return self.answer(200, json.dumps(revision).encode())
        if kind == "tree":
            entries = [
                {"type": "file", "path": file, "size": len(files[file])}
                | {"oid": hashlib.sha1(files[file]).hexdigest()}
                for file in files
            ]
            return self.answer(200, json.dumps(entries).encode())
        content = files[match["file"]]
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        if self.command == "GET":
            self.server.sent.append(match["file"])
        self.answer(200, content, ETag=etag)

    def answer(self, status, content=b"", error="", **headers):
        self.send_response(status)
        headers = {"Content-Length": len(content), **headers}
        headers |= {"X-Repo-Commit": COMMIT, "X-Error-Code": error}
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@pytest.fixture
def hub():
    """A running Hub, with the list of the files that it has sent."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.sent = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def run_python(hub, tmp_path):
    """Runs Python with the server as the hub, and returns its output."""
    address = f"http://127.0.0.1:{hub.server_port}"
    hub_variables = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home")}

    def run_python(*arguments, **variables):
        done = fresh_process.run(*arguments, **hub_variables | variables)
        return done.check().stdout.strip()

    return run_python


DOWNLOAD = """
import sys
from model_folders.reading import hub
if len(sys.argv) > 2:
    sys.modules[sys.argv[2]] = None
try:
    folder = hub.to_local_folder(sys.argv[1])
    print(folder, hub.hub_path_of(folder))
except (ValueError, OSError) as error:
    print("error:", error)
assert not {"keras", "tensorflow"} & sys.modules.keys()
"""


@pytest.fixture
def download(run_python):
    """Function that downloads a model of the hub in a new process."""
    return lambda *arguments, **variables: run_python(
        "-c", DOWNLOAD, *arguments, **variables
    )


def read_files(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_only_what_is_needed_is_downloaded(hub, download, tmp_path):
    folder, source = download("hf://some/bert").split()
    assert source == f"hf://some/bert@{COMMIT}"
    assert read_files(tmp_path / folder) == BERT
    assert sorted(hub.sent) == sorted(BERT)


def test_a_model_is_downloaded_once(hub, download):
    first = download("hf://some/bert")
    hub.sent.clear()
    assert download("hf://some/bert@v1") == first
    assert not hub.sent


def test_without_a_network_the_cache_is_enough(hub, download):
    first = download("hf://some/bert")
    assert download("hf://some/bert", HF_HUB_OFFLINE="1") == first


def test_a_model_that_the_cache_lacks_needs_a_network(download):
    assert "by hand" in download("hf://some/gpt", HF_HUB_OFFLINE="1")


@pytest.mark.parametrize("path", ["hf://some/old", "hf://some/keras torch"])
def test_tensorflows_weights_are_read_if_there_are_no_others(
    hub, download, tmp_path, path
):
    folder, _ = download(*path.split()).split()
    assert (tmp_path / folder / "tf_model.h5").is_file()
    assert "pytorch_model.bin" not in hub.sent


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("hf://bert", "OWNER"),
        ("hf://some/absent", "Repository Not Found"),
        ("hf://some/private", "private"),
        ("hf://some/bert@other", "Revision Not Found"),
        ("hf://some/gated", "gated"),
        ("hf://some/gpt", "gpt2"),
        ("hf://some/empty", "no config.json"),
        ("hf://some/roberta", "RobertaBackbone"),
        ("hf://some/pickled torch", "pip install torch"),
        ("hf://some/bert huggingface_hub", "requirements/hub.txt"),
    ],
)
def test_one_line_says_why_there_is_no_model(hub, download, path, says):
    error = download(*path.split())
    assert error.startswith("error: ")
    assert says in error
    assert "\n" not in error
    large = ("model.safetensors", "pytorch_model.bin", "model.weights.h5")
    assert not {*hub.sent}.intersection(large)


def test_a_preset_of_kerashub_is_downloaded(hub, download, tmp_path):
    folder, source = download("hf://some/kerashub").split()
    assert source == f"hf://some/kerashub@{COMMIT}"
    assert read_files(tmp_path / folder) == KERASHUB
    assert sorted(hub.sent) == sorted(KERASHUB)


def test_a_token_opens_a_private_model(download):
    assert COMMIT in download("hf://some/private", HF_TOKEN=TOKEN)


def test_without_a_network_a_model_is_to_be_downloaded_by_hand(download):
    # A port on which nothing listens.
    error = download("hf://some/bert", HF_ENDPOINT="http://127.0.0.1:9")
    assert "by hand" in error


FROM_PRESET = """
import modeling
from data.text.tokenization import FullTokenizer
model = modeling.BertModel.from_preset("hf://some/bert")
print(len(FullTokenizer.from_preset("hf://some/bert").tokens), model.built)
"""


def test_a_model_a_tokenizer_and_a_tool_take_an_address(run_python, tmp_path):
    assert run_python("-c", FROM_PRESET) == f"{len(WORDS)} True"
    run_python(
        "-m",
        "tools.convert_checkpoint",
        f"--output_dir={tmp_path}/new",
        "--init_checkpoint=hf://some/bert@v1",
    )
    described = json.loads((tmp_path / "new/model.json").read_text())
    source = f"hf://some/bert@{COMMIT}"
    assert described["origin"]["weights"] == source
    assert source in (tmp_path / "new/README.md").read_text()
