"""Which files belong to weights, beside the file that is found first."""

from model_folders.formats.kerashub.weights import list_kerashub_files_beside
from model_folders.formats.shards import list_shards


def list_files_beside(path: str) -> list[str]:
    """Returns the files that change what the weights in a file mean.

    These files contain more of the weights, or say what the weights mean. Some
    formats have none.

    Args:
        path: path of the weights in any format, or of their index.

    Raises:
        OSError: the index cannot be read.
        ValueError: the index is malformed.
    """
    if path.endswith(".index.json"):
        return list_shards(path)
    return list_kerashub_files_beside(path)
