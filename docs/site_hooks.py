"""Adds the notebooks to the documentation site.

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
# {notebook: its page of the site}.
PAGE_OF_NOTEBOOK = {
    "serving.ipynb": "notebook.md",
    "keras.ipynb": "keras_notebook.md",
}


def on_page_content(html: str, **_: object) -> str:
    """Keeps browsers from breaking a line after the "--" of a flag."""
    return re.sub(r"(?<=[\s>])--\w+", r'<span class="flag">\g<0></span>', html)


def on_files(files: "Files", config: "MkDocsConfig") -> None:
    """Adds each notebook as a page, in Markdown."""
    from mkdocs.structure.files import File

    for notebook, page in PAGE_OF_NOTEBOOK.items():
        text = (ROOT / "docs" / notebook).read_text(encoding="utf-8")
        content = _to_markdown(json.loads(text))
        files.append(File.generated(config, page, content=content))


# Any, because the file is this project's, in Jupyter's format.
def _to_markdown(notebook: dict[str, Any]) -> str:
    """Returns the texts, the code and the outputs of a notebook."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(f"```python\n{source}\n```" if is_code else source)
        for shown in cell.get("outputs", ()):
            text = "".join(shown.get("text") or shown["data"]["text/plain"])
            parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"
