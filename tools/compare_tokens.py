#!/usr/bin/env python3
"""Counts the lines of a text that an imported tokenizer splits otherwise than the package transformers does.

usage: compare_tokens.py SYNTH TEXT [LINES]
needs: pip install torch transformers sentencepiece safetensors

For each family a tokenizer of realistic size is trained on the text, put beside a tiny model, imported by
SYNTH (the program), and asked for the tokens of the first LINES lines (10,000).
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

import sentencepiece
from marian_model import marian_model
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    MarianTokenizer,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)

SIZE = 8000


def train_pieces(path: pathlib.Path, text: pathlib.Path, **options) -> list[str]:
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(path), vocab_size=SIZE, minloglevel=2, **options
    )
    pathlib.Path(f"{path}.model").rename(path)
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [model.id_to_piece(n) for n in range(model.get_piece_size())]


def marian(folder, text):
    pieces = train_pieces(folder / "source.spm", text)
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    words = ["</s>", "<unk>", *(p for p in pieces if p not in ("</s>", "<unk>", "<s>"))][
        :-50
    ]  # some are unknown
    vocabulary = {word: n for n, word in enumerate([*words, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    marian_model(words=len(vocabulary), width=8, layers=1, heads=2, feed_forward=8).save_pretrained(folder)
    tokenizer = MarianTokenizer(*(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")))
    return lambda line: tokenizer(line)["input_ids"][:-1]


def t5(folder, text):
    train_pieces(folder / "spiece.model", text, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>")
    T5ForConditionalGeneration(
        T5Config(
            vocab_size=SIZE + 128,
            d_model=8,
            d_kv=4,
            num_heads=2,
            num_layers=1,
            d_ff=8,
            decoder_start_token_id=0,
        )
    ).save_pretrained(folder)
    tokenizer = T5Tokenizer.from_pretrained(folder)
    return lambda line: tokenizer(line)["input_ids"][:-1]


def gpt2(folder, text):
    trainer = ByteLevelBPETokenizer()
    trainer.train([str(text)], vocab_size=SIZE, special_tokens=["<|endoftext|>"], show_progress=False)
    trainer.save_model(str(folder))
    tokenizer = GPT2Tokenizer.from_pretrained(folder)
    end = tokenizer.eos_token_id
    GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=8,
            n_layer=1,
            n_head=2,
            n_positions=16,
            bos_token_id=end,
            eos_token_id=end,
        )
    ).save_pretrained(folder)
    return lambda line: tokenizer(line)["input_ids"]


def bert(folder, text, lowercase):
    trainer = BertWordPieceTokenizer(lowercase=lowercase)
    trainer.train([str(text)], vocab_size=SIZE, show_progress=False)
    trainer.save_model(str(folder))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase}))
    tokenizer = BertTokenizer.from_pretrained(folder)
    BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
            num_labels=2,
        )
    ).save_pretrained(folder)
    return lambda line: tokenizer(line)["input_ids"][1:-1]


FAMILIES = {
    "marian": marian,
    "t5": t5,
    "gpt2": gpt2,
    "bert": lambda folder, text: bert(folder, text, True),
    "bert-cased": lambda folder, text: bert(folder, text, False),
}


def main() -> None:
    synth, text, count = sys.argv[1], pathlib.Path(sys.argv[2]), int((sys.argv[3:] or ["10000"])[0])
    with open(text, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line, _ in zip(file, range(count))]
    for name, make in FAMILIES.items():
        with tempfile.TemporaryDirectory() as place:
            folder, run = pathlib.Path(place, "model"), pathlib.Path(place, "run")
            folder.mkdir()
            theirs = make(folder, text)
            subprocess.run([synth, "import", folder, "--run", run], check=True, stderr=subprocess.DEVNULL)
            given = "".join(line + "\n" for line in lines)
            out = subprocess.run(
                [synth, "tokenize", run, "--ids"], input=given, capture_output=True, text=True, check=True
            )
            differ = [
                (line, ours, wanted)
                for line, ours in zip(lines, out.stdout.split("\n"))
                if [int(n) for n in ours.split()] != (wanted := theirs(line))
            ]
            print(f"{name}: {len(differ)} of {len(lines)} lines differ", flush=True)
            for line, ours, wanted in differ[:3]:
                print(
                    "  ",
                    line[:200],
                    "\n    ours  ",
                    ours[:200],
                    "\n    theirs",
                    " ".join(map(str, wanted))[:200],
                )


if __name__ == "__main__":
    main()
