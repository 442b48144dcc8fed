"""TFRecord files without TensorFlow: examples encoded, framed, read, counted.

The bytes are those of `tf.train.Example` and `tf.io.TFRecordWriter`, made
here because a process that only writes records need not load TensorFlow,
and because building the protocol buffers costs more than making the
instances that go into them.
"""

import contextlib
import struct

import google_crc32c

from data import files as files_lib

_HEADER_SIZE = 12  # length (8 bytes) and its checksum (4)
_FOOTER_SIZE = 4


def encode_example(features):
    """Serializes features as a `tf.train.Example`.

    Args:
        features: dict of name to a list of ints (an int64 feature, each from
            0 up) or of floats (a float feature), the kind told by the first.

    Returns:
        bytes.

    Raises:
        ValueError: a value is negative, or of another type.
    """
    entries = []
    for name, values in features.items():
        if values and isinstance(values[0], float):
            kind, packed = 2, struct.pack(f"<{len(values)}f", *values)
        else:
            kind, packed = 3, _varints(name, values)
        value_list = _field(1, packed)
        feature = _field(kind, value_list)
        entry = _field(1, name.encode()) + _field(2, feature)
        entries.append(_field(1, entry))
    return _field(1, b"".join(entries))


def _varint(value):
    """One non-negative integer in protocol buffers' base 128."""
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


# Every id of any released vocabulary; larger integers are encoded on demand.
_VARINTS = [_varint(value) for value in range(1 << 17)]


def _varints(name, values):
    try:
        low, high = min(values, default=0), max(values, default=0)
        if 0 <= low and high < 128:
            return bytes(values)
        if 0 <= low and high < len(_VARINTS):
            return b"".join(map(_VARINTS.__getitem__, values))
        if 0 <= low:
            return b"".join(map(_varint, values))
    except TypeError:
        pass
    raise ValueError(
        f"feature '{name}' takes integers from 0 up. Received: {values}"
    )


def _field(number, payload):
    """A length-delimited protocol buffer field."""
    return b"%c%b%b" % (number << 3 | 2, _VARINTS[len(payload)], payload)


def _masked_crc(data):
    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(record):
    """Returns a record as it stands in a TFRecord file."""
    header = struct.pack("<Q", len(record))
    return b"%b%b%b%b" % (
        header,
        struct.pack("<I", _masked_crc(header)),
        record,
        struct.pack("<I", _masked_crc(record)),
    )


class RecordWriter:
    """Writes records to one or more TFRecord files in turn, as a context.

    Record number i goes to file i mod the number of files, as the original
    does. The files appear, whole, when the block ends well, and not at all
    when it ends with an error.

    Args:
        paths: the files to write.

    Raises:
        ValueError: a file is named twice.
        OSError: a file cannot be written.
    """

    def __init__(self, paths):
        if len(set(paths)) != len(paths):
            raise ValueError(f"an output file is named twice: {paths}")
        self._paths = paths
        self.num_records = 0

    def __enter__(self):
        """Opens the files."""
        with contextlib.ExitStack() as stack:
            self._files = [
                stack.enter_context(files_lib.atomic_open(path))
                for path in self._paths
            ]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        """Gives the files their names, or removes them after an error."""
        return self._stack.__exit__(*error)

    def write(self, record):
        """Writes one record, bytes."""
        self._files[self.num_records % len(self._files)].write(frame(record))
        self.num_records += 1


def read_records(path):
    """Yields the records of a TFRecord file, checksums verified.

    Raises:
        ValueError: the file is truncated or corrupt, or is no TFRecord file;
            the message names the file and the place.
    """
    with files_lib.open_binary(path) as file:
        position = 0
        while header := file.read(_HEADER_SIZE):
            length = _record_length(path, position, header)
            body = file.read(length + _FOOTER_SIZE)
            if len(body) < length + _FOOTER_SIZE:
                raise _truncated(path, position)
            record = body[:length]
            if struct.unpack("<I", body[length:])[0] != _masked_crc(record):
                raise ValueError(
                    f"{path}: the record at byte {position} is corrupt (its "
                    "checksum does not match); make the file again"
                )
            yield record
            position += _HEADER_SIZE + length + _FOOTER_SIZE


def count_records(paths):
    """Counts the records of TFRecord files by their length headers alone.

    Raises:
        ValueError: a file is truncated, or is no TFRecord file.
    """
    count = 0
    for path in paths:
        with files_lib.open_binary(path) as file:
            size = (
                file.seek(0, 2)
                if not files_lib.is_remote(path)
                else (file.size())
            )
            position = 0
            while position < size:
                file.seek(position)
                header = file.read(_HEADER_SIZE)
                length = _record_length(path, position, header)
                end = position + _HEADER_SIZE + length + _FOOTER_SIZE
                if end > size:
                    raise _truncated(path, position)
                position = end
                count += 1
    return count


def find_corruption(paths):
    """Reads files whole; says what is wrong with the first bad one, or None."""
    for path in paths:
        try:
            for _ in read_records(path):
                pass
        except ValueError as error:
            return str(error)
    return None


def _record_length(path, position, header):
    if len(header) < _HEADER_SIZE:
        raise _truncated(path, position)
    length, crc = struct.unpack("<QI", header)
    if crc != _masked_crc(header[:8]):
        what = (
            "this is no TFRecord file"
            if position == 0
            else f"the record at byte {position} is corrupt"
        )
        raise ValueError(
            f"{path}: {what} (the checksum of a record's length does not "
            "match); give a file that create_pretraining_data.py made"
        )
    return length


def _truncated(path, position):
    return ValueError(
        f"{path}: the file is truncated: the record at byte {position} is "
        "cut off; make the file again"
    )
