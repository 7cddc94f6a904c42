"""A MarianMT model of the base size with random weights, as a folder of Hugging Face.

Its tokenizers are trained on the Shakespeare of this repository. The vocabulary of 58,101, that of
OPUS-MT en-de, is filled up with words that no text has.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel

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
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=512,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
        max_position_embeddings=512,
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=VOCABULARY - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=VOCABULARY - 1,
        init_std=0.06,  # with the usual 0.02 all sentences would get the same translation
    )
    made = MarianMTModel(config).eval()
    made.generation_config.bad_words_ids = [[VOCABULARY - 1]]
    made.save_pretrained(folder)
