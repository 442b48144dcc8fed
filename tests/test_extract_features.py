import json

import numpy as np
import pytest

from tests import golden, scripts


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("case", golden.cases("extract_features"))
def test_golden_features(tmp_path, case):
    folder = case["folder"]
    paths = ("init_checkpoint", "bert_config_file", "vocab_file", "input_file")
    flags = {name: folder / case[name] for name in paths}
    flags |= {
        name: case[name]
        for name in ("layers", "max_seq_length", "do_lower_case")
    }
    expected = read_lines(folder / case["features"])
    runs = scripts.run_all(
        [
            (
                "extract_features.py",
                tmp_path,
                {**flags, "output_file": f"made/{size}", "batch_size": size},
            )
            for size in (32, 2)
        ]
    )
    for size, done in zip((32, 2), runs, strict=True):
        assert f"Wrote {len(expected)} lines" in done.check().stderr
        lines = read_lines(tmp_path / "made" / str(size))
        assert len(lines) == len(expected)
        for line, other in zip(lines, expected, strict=True):
            assert line["linex_index"] == other["linex_index"]
            assert len(line["features"]) == len(other["features"])
            for token, same in zip(
                line["features"], other["features"], strict=True
            ):
                assert token["token"] == same["token"]
                for name in ("index", "values"):
                    np.testing.assert_allclose(
                        [layer[name] for layer in token["layers"]],
                        [layer[name] for layer in same["layers"]],
                        rtol=0,
                        atol=1e-5,
                    )
