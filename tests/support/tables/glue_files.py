"""Files of a task of GLUE, which are TSV."""


def write_columns(folder, name, *lines):
    """Writes lines whose columns are separated by `|` instead of tabs."""
    text = "".join(f"{line}\n" for line in lines)
    (folder / name).write_text(text.replace("|", "\t"))
