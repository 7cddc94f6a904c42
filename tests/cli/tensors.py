"""Safetensors files read by hand, so that what is compared is what lies on the disk."""

import json
import struct

import numpy

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
    "BF16": "<u2",
}  # the last as bits: numpy has no such numbers
# fmt: skip


# Differ from run to run, and with them the checksum of a file that has them.
TIMES = ["seconds", "interval_seconds", "interval_waited", "crc32c"]


def split(path):
    """Header, metadata, and the bytes after the header."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    return header, header.pop("__metadata__", {}), raw[8 + length :]


def read(path):
    """The tensors by name."""
    header, _, data = split(path)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = numpy.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def metadata(path):
    return split(path)[1]


def write(path, arrays, metadata):
    """Tensors of 32-bit numbers, in a file as anybody may write it."""
    header, data = {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        raw = array.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def same(one, other):
    """The same tensors, bit for bit, and the same metadata but for the time it took."""
    a, b = read(one), read(other)
    assert list(a) == list(b)
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].shape == b[name].shape, name
        assert a[name].tobytes() == b[name].tobytes(), name
    said, heard = metadata(one), metadata(other)
    for key in TIMES:
        said.pop(key, None), heard.pop(key, None)
    assert said == heard


def contents(folder):
    """Every file below a folder and what is in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
