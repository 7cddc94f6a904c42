"""A MarianMT model of the base size with random weights, as a folder of Hugging Face.

Its tokenizers are trained on the Shakespeare of this repository. The vocabulary of 58,101, that of
OPUS-MT en-de, is filled up with words that no text has.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import sentencepiece
import torch

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from marian_model import marian_model  # noqa: E402

PIECES, VOCABULARY = 4000, 58101


def make(folder: Path, text: Path) -> None:
    folder.mkdir(parents=True)
    model = io.BytesIO()
    lines = [line for line in text.read_text(encoding="utf-8").splitlines() if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=PIECES, minloglevel=2
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model.getvalue())
    trained = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [trained.id_to_piece(n) for n in range(PIECES)]
    words = ["</s>", "<unk>", *(piece for piece in pieces if piece not in ("</s>", "<unk>", "<s>"))]
    words += [f"▁none{n}" for n in range(VOCABULARY - 1 - len(words))] + ["<pad>"]
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "de"}))
    torch.manual_seed(1)
    made = marian_model(
        words=VOCABULARY,
        width=512,
        layers=6,
        heads=8,
        feed_forward=2048,
        max_position_embeddings=512,
        activation_function="swish",
        scale_embedding=True,
        init_std=0.06,  # with the usual 0.02 all sentences would get the same translation
    )
    made.generation_config.bad_words_ids = [[VOCABULARY - 1]]
    made.save_pretrained(folder)
