"""Adds the version and the notebook to the documentation site.

MkDocs calls the functions `on_config` and `on_files`.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def on_config(config: Any) -> None:
    """Adds the project's version to the end of each page."""
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    config.copyright = f"Version {version}"


def on_files(files: Any, config: Any) -> None:
    """Adds the page notebook.md, which is docs/serving.ipynb as Markdown."""
    from mkdocs.structure.files import File

    parts = []
    notebook = (ROOT / "docs" / "serving.ipynb").read_text(encoding="utf-8")
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(f"```python\n{source}\n```" if is_code else source)
    page = "\n\n".join(parts) + "\n"
    files.append(File.generated(config, "notebook.md", content=page))
