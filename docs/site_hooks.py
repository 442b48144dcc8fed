"""Adds the notebook to the documentation site.

MkDocs calls the functions whose names begin with `on_`.
"""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent


def on_page_content(html: str, **_: Any) -> str:
    """Keeps browsers from breaking a line after the "--" of a flag."""
    return re.sub(r"(?<=[\s>])--\w+", r'<span class="flag">\g<0></span>', html)


def on_files(files: "Files", config: "MkDocsConfig") -> None:
    """Adds the page notebook.md, which is docs/serving.ipynb as Markdown."""
    from mkdocs.structure.files import File

    parts = []
    notebook = (ROOT / "docs" / "serving.ipynb").read_text(encoding="utf-8")
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(f"```python\n{source}\n```" if is_code else source)
        for shown in cell.get("outputs", ()):
            text = "".join(shown.get("text") or shown["data"]["text/plain"])
            parts.append(f"```text\n{text.rstrip()}\n```")
    page = "\n\n".join(parts) + "\n"
    files.append(File.generated(config, "notebook.md", content=page))
