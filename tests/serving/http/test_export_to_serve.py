"""An export of serve.py before and after its model is loaded."""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.engines import EngineFlags
from serving.http.export_to_serve import ExportToServe


@pytest.mark.parametrize(
    "folder, version", [("models/7", "7"), ("models/7/", "7"), ("ner", "1")]
)
def test_the_version_is_the_number_of_the_folder(folder, version):
    assert ExportToServe(folder, EngineFlags()).version == version


def test_a_loaded_export_computes_the_text_tasks_of_its_model(folders):
    export = ExportToServe(
        str(folders["classifier"]), EngineFlags(engine="litert")
    )
    served_model = export.load()
    assert served_model.main_text_task.name == "classify"
    assert served_model.description["engine"] == "litert"


def test_a_model_that_accepts_no_text_is_refused(export_folder):
    export = ExportToServe(
        str(export_folder / "multiple_choice"), EngineFlags()
    )
    with pytest.raises(ValueError, match="multiple_choice accepts no text"):
        export.load()
