"""An export holds its tokenizer once, whatever its signatures are."""

import pytest
from tensorflow.core.protobuf import saved_model_pb2


@pytest.mark.parametrize(
    "name", ["squad", "classifier", "ner", "pretraining", "features"]
)
def test_an_export_holds_one_tokenizer(exports, name):
    found = saved_model_pb2.SavedModel()
    found.ParseFromString((exports[name].path / "saved_model.pb").read_bytes())
    functions = found.meta_graphs[0].graph_def.library.function
    names = [function.signature.name for function in functions]
    # Named after `TokenizerLayer._tokenize`; "tokenize" is a signature.
    assert sum("__inference__tokenize_" in name for name in names) == 1
