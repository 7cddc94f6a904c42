#!/usr/bin/env python3
"""Writes the seeds of tests/fuzz/corpus: small inputs of every kind that a target reads.

usage: make_corpus.py WRITE_FUZZ_SEEDS

WRITE_FUZZ_SEEDS: the program of that name (ninja -C build/release write_fuzz_seeds).
Inputs that fuzzing found are named found-…; this script leaves them alone.
"""
# ruff: noqa: E501 - inputs are shown as they are

import gzip
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy
import torch

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
MODELS = CORPUS.parent.parent / "interop/references"


def put(target, name, contents):
    """Writes one seed."""
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(contents if isinstance(contents, bytes) else contents.encode())


def parts(*contents):
    """Several contents in one input: before each but the last its length."""
    return b"".join(struct.pack("<H", len(part)) + part for part in contents[:-1]) + contents[-1]


def tensors(entries, metadata=None, data=b""):
    """The bytes of a safetensors file."""
    header = {"__metadata__": metadata} if metadata else {}
    header |= {name: {"dtype": t, "shape": s, "data_offsets": o} for name, t, s, o in entries}
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def without_checksum(file):
    """A file that the library wrote, as another program would write it: any change would be refused otherwise."""
    (length,) = struct.unpack_from("<Q", file)
    header = json.loads(file[8 : 8 + length])
    header["__metadata__"].pop("crc32c")
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + file[8 + length :]


# --- Protocol buffers, as SentencePiece saves its models ---


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A number, a float or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text, score=0.0, kind=1):
    return field(1, field(1, text.encode()) + field(2, score) + field(3, kind))


def charsmap():
    """A table that turns "A" into "a": one unit of a double-array trie for each byte, and the texts."""
    units = [0] * 512
    units[0] = 256 << 10  # the root: its children start at 256
    units[256 ^ ord("A")] = ord("A") | 1 << 8 | ((256 ^ ord("A") ^ 257) << 10)  # ends at 257
    units[257] = 1 << 31  # leaf: the text at byte 0
    trie = struct.pack("<512I", *units)
    return struct.pack("<I", len(trie)) + trie + b"a\0"


def sentencepiece(kind, bytes_too=False, table=b""):
    model = piece("<unk>", 0.0, 2) + piece("<s>", 0.0, 3) + piece("</s>", 0.0, 3)
    if bytes_too:
        model += b"".join(piece(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256))
    for place, text in enumerate(["▁", "a", "t", "c", "▁the", "at", "▁cat", "s", "ä"]):
        model += piece(text, -1.0 - place)
    model += piece("<x>", 0.0, 4)
    trainer = field(3, kind) + field(4, 300 if bytes_too else 13) + (field(35, 1) if bytes_too else b"")
    normalizer = field(1, b"identity") + (field(2, table) if table else b"") + field(3, 1) + field(4, 1)
    return model + field(2, trainer) + field(3, normalizer)


def plain_seeds():
    text = "a cat\nthe dog\r\n\nä 😀\nno end"
    put("gzip", "plain", text)
    put("gzip", "mark", "\ufeffa cat\n")
    put("gzip", "gz", gzip.compress(text.encode() * 4, mtime=0))
    put("gzip", "two", gzip.compress(b"a\n", mtime=0) + gzip.compress(b"b\n", mtime=0))
    put("gzip", "cut", gzip.compress(text.encode(), mtime=0)[:-9])

    put(
        "json_lines",
        "flat",
        '{"text": "a \\u00e4\\ud83d\\ude00", "label": 1}\n\n{"label": true, "text": 2.5}\n',
    )
    put("json_lines", "other", '{"text": ["a"], "label": null}\n')
    put("json_lines", "deep", '{"text": "a", "label": 1, "x": ' + "[" * 200 + "]" * 200 + "}\n")

    put("tsv", "named", "\1label\ttext\nx\ta cat\ny\tthe dog\n")
    put("tsv", "unnamed", "\0x\ta cat\ny\tthe dog\n")
    put("tsv", "header", "\0label\ttext\nx\ta\n")
    put("tsv", "uneven", "\1text\tlabel\na\tb\tc\n")

    put("metrics", "log", '{"step":1,"split":"train","loss":3.5,"seconds":0.5}\n{"step":2,"split":"dev","loss":null}\n'
        '{"step":2,"split":"mixture","l.0":[[0.5,0.5],[1,null]],"l.1":[1]}\n')  # fmt: skip
    put("metrics", "torn", '{"step":1,"split":"train","loss":3.5}\n{"step":2,"spl')
    put("metrics", "numbers", '{"step":9223372036854775807,"split":"","x":1e400,"y":-0.0,"z":1e-400}\n')

    put("run_json", "record", json.dumps({"command": ["synth", "train"], "version": "1", "threads": 2, "cores": 4,
        "memory_bytes": 8, "data": {"a.en": "00ff"}, "vector_flags": ["avx2"], "processor": "x", "commit": "c",
        "libtorch": "2", "started": "2026", "made_from": {"by": "grow", "run": "a"}}))  # fmt: skip
    put("run_json", "large", '{"threads": 18446744073709551615, "cores": -1}')
    put("run_json", "kinds", '{"threads": [[1]], "data": {"a": 1}}')

    data = bytes(28)
    two = [("a", "F32", [2, 3], [0, 24]), ("b", "BOOL", [4], [24, 28])]
    for target in ("safetensors_header", "safetensors"):
        put(target, "two", tensors(two, {"step": "12"}, data))
        put(target, "empty", tensors([]))
        put(
            target, "scalar", tensors([("s", "F64", [], [0, 8]), ("n", "I8", [0, 9], [8, 8])], None, bytes(8))
        )
        put(
            target,
            "unaligned",
            tensors([("b", "U8", [1], [0, 1]), ("f", "F32", [1], [1, 5])], None, bytes(5)),
        )
        put(target, "large", tensors([("a", "F32", [1 << 62, 4], [0, 1 << 63])]))

    put("sentencepiece", "unigram", sentencepiece(1))
    put("sentencepiece", "bpe", sentencepiece(2))
    put("sentencepiece", "words", sentencepiece(3))
    put("sentencepiece", "characters", sentencepiece(4))
    put("sentencepiece", "bytes", sentencepiece(1, bytes_too=True))
    put("sentencepiece", "table", sentencepiece(1, table=charsmap()))

    toml = (
        'task = "translation"\nseed = 1\n[model]\nattention = ["V", "R"]\noptions = { rank = 8 }\n[train]\n'
    )
    toml += "learning_rate = 1e-4\nsteps = 10\n"
    put("settings", "recipe", toml)
    put("settings", "dates", "a = 1979-05-27T07:32:00Z\nb.c.d = [[1], ['x']]\n[[t]]\nx = inf\n")
    put("settings", "dots", "a" + ".a" * 300 + " = 1\n")
    put("recipe", "translation", toml)
    put("recipe", "more", '[data]\ntrain = "a.txt"\nformat = "tsv"\ncolumns = ["a", "b"]\n[model]\nwidth = 8\nheads = 2\n'
        'encoder_attention = "D"\n[decode]\nbeam = 4\nlength_penalty = 0.6\n')  # fmt: skip
    put("recipe", "unknown", "[modle]\nwidth = 8\n")
    put("recipe", "dots", "a" + ".a" * 300 + " = 1\n")

    begins, counts, ids = (
        struct.pack("<3q", 0, 2, 3),
        struct.pack("<4I", 2, 3, 1, 1),
        struct.pack("<3i", 4, 5, 4),
    )
    lines = struct.pack("<3q", 0, 0, 1)
    put("token_store", "two", parts(b"\2", begins, counts, ids, lines, b""))
    put("token_store", "index", parts(b"\2", begins, counts, ids, lines, b'{"version":1,"hash":"0123456789abcdef",'
        b'"examples":2,"fields":1,"files":[{"name":"lines","bytes":24,"hash":"0"}]}'))  # fmt: skip
    put("token_store", "outside", parts(b"\1", struct.pack("<2q", 0, 9), counts[:8], ids, lines, b""))

    put("tokenizer", "words", "synthesizer tokenizer 1 words 3\nthe\ncat\nsat\n")
    put("tokenizer", "characters", "synthesizer tokenizer 1 characters 5\na\nt\n\\n\n\\\\\nä\n")
    put("tokenizer", "bytes", "synthesizer tokenizer 1 bytes 0\n")
    put("tokenizer", "count", "synthesizer tokenizer 1 words 18446744073709551615\nthe\n")

    put("word_vectors", "glove", "the 0.5 -1 2e-3\ncat 1 2 3\n. . . 1 2 3\n")
    put("word_vectors", "word2vec", "2 3\nthe 0.5 -1 2\ncat 1 2 3\n")
    put("word_vectors", "wide", "1 18446744073709551615\nthe\n")
    put("word_vectors", "gz", gzip.compress(b"the 1 2\ncat 3 4\n", mtime=0))

    index = b"  1 licence\ncat n 2 0 2 0 00000000 00000049\nman n 1 0 1 0 00000000\n"
    first = b"00000000 05 n 03 cat 0 true_cat 0 Felis(p) 0 000 | an animal  \n"
    second = first.replace(b"00000000", b"%08d" % len(first)).replace(b"03", b"02")
    index = index.replace(b"00000049", b"%08d" % len(first))
    put("wordnet", "small", parts(index, first + second, b"men man\n"))
    put("wordnet", "count", parts(index, first.replace(b"03", b"ffffffffffffffff"), b""))


def foreign_seeds():
    """Files of other programs. Of a model folder the files that fit into an input, with the model's number and the file's
    before them, as tensors/import.cpp counts them."""
    weights = {"a.weight": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.float16)}
    weights["tied"] = weights["a.weight"].t()
    for name, archive in {"archive": True, "stream": False}.items():
        made = io.BytesIO()
        torch.save(weights, made, _use_new_zipfile_serialization=archive)
        put("torch_file", name, made.getvalue())
    torch.save({"a": print}, made := io.BytesIO())
    put("torch_file", "function", made.getvalue())

    arrays = {"w": numpy.arange(6, dtype="f4").reshape(2, 3), "text": numpy.frombuffer(b"a: 1\n", dtype="i1")}
    for name, save in {"stored": numpy.savez, "deflated": numpy.savez_compressed}.items():
        save(made := io.BytesIO(), **arrays)
        put("npz", name, made.getvalue())
    numpy.savez(made := io.BytesIO(), w=numpy.asfortranarray(numpy.ones((2, 3))), empty=numpy.ones((0, 3)))
    put("npz", "columns", made.getvalue())

    kinds = {
        "marian": ["config.json", "generation_config.json", "vocab.json", "source.spm"],
        "t5-1.1": ["config.json", "generation_config.json", "spiece.model"],
        "gpt2": ["config.json", "generation_config.json", "vocab.json", "merges.txt"],
        "bert": ["config.json", "tokenizer_config.json", "vocab.txt"],
        "marian-npz": ["decoder.yml", "vocab.yml", "source.spm"],
    }
    for kind, (model, files) in enumerate(kinds.items()):
        for number, file in enumerate(files):
            put("import", f"{model}-{file}", bytes([kind, number]) + (MODELS / model / file).read_bytes())


def tensor_seeds(program):
    for choice, text in {
        "sst2": (2, "sentence\tlabel\na cat\t1\n"),
        "cola": (0, "gj04\t1\t\ta cat\n"),
        "boolq": (18, '{"passage": "p", "question": "q", "label": true}\n'),
        "multirc": (24, '{"passage": {"text": "t", "questions": [{"question": "q", "idx": 0, "answers": [{"text": "a",'
                        ' "label": 1, "idx": 0}]}]}, "idx": 0}\n'),
        "record": (26, '{"passage": {"text": "a b", "entities": [{"start": 0, "end": 0}]}, "qas": [{"query": "@placeholder'
                       ' x", "answers": [{"start": 0, "end": 0, "text": "a"}], "idx": 0}], "idx": 0}\n'),
        "wsc": (32, '{"text": "a b it", "target": {"span1_index": 0, "span1_text": "a", "span2_index":'
                    ' 9223372036854775807, "span2_text": "it"}, "label": true}\n'),
        "wsc-low": (32, '{"text": "a b it", "target": {"span1_index": -9223372036854775808, "span1_text": "a",'
                        ' "span2_index": 2, "span2_text": "it"}, "label": true}\n'),
        "squad": (36, '{"context": "It is 3 o\'clock.", "question": "When?", "answers": {"text": ["3", "3 o\'clock"]}}\n'),
        "squad-whole": (37, '{"data": [{"paragraphs": [{"context": "a, b", "qas": [{"question": "q", "answers": [{"text":'
                            ' "b"}]}]}]}]}\n'),
    }.items():  # fmt: skip
        put("benchmark", choice, bytes([text[0]]) + text[1].encode())

    requests = {
        "translate": ("/v1/translate", '{"text": ["a cat", ""], "beam": 2, "nbest": 2, "max_length": 3}'),
        "generate": (
            "/v1/generate",
            '{"prompt": "a", "tokens": 3, "temperature": 0.5, "top_k": 2, "seed": 1}',
        ),
        "stream": ("/v1/generate", '{"prompt": "a", "tokens": 2, "stream": true}'),
        "classify": ("/v1/classify", '{"text": "the cat", "model": "cls"}'),
        "score": ("/v1/score", '{"text": "a cat", "model": "lm"}'),
        "attention": ("/v1/attention", '{"text": "a cat", "layer": 0, "head": 1, "model": "lm"}'),
        "completions": (
            "/v1/completions",
            '{"model": "lm", "prompt": "a", "max_tokens": 2, "n": 2, "stop": "b"}',
        ),
        "usage": (
            "/v1/completions",
            '{"model": "lm", "stream": true, "stream_options": {"include_usage": 1}}',
        ),
        "seeds": ("/v1/completions", '{"model": "lm", "prompt": "a", "n": 2, "seed": 9223372036854775807}'),
        "libre": ("/translate", '{"q": "a cat", "source": "en", "target": "de", "alternatives": 1}'),
        "deep": ("/v1/score", '{"text": ' + "[" * 100 + "]" * 100 + "}"),
    }
    for name, (path, body) in requests.items():
        put("http", name, f"POST\n{path}\napplication/json\n\n{body}")
    put(
        "http",
        "form",
        "POST\n/translate\napplication/x-www-form-urlencoded\n\nq=a+c%61t&q=b&source=auto&target=de",
    )
    put("http", "models", "GET\n/v1/models/lm\n\nBearer x\n")

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        made = {file.name: file.read_bytes() for file in pathlib.Path(folder).iterdir()}
    put("safetensors", "checksum", made["dtypes"])
    put("safetensors", "dtypes", without_checksum(made["dtypes"]))
    for name, target in {
        "training_state": "training_state",
        "float": "int8_export",
        "int8": "int8_export",
        "bfloat16": "int8_export",
    }.items():
        put(target, name, without_checksum(made[name]))
        put(target, name + "-checksum", made[name])


if __name__ == "__main__":
    plain_seeds()
    foreign_seeds()
    tensor_seeds(sys.argv[1])
