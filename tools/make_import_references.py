#!/usr/bin/env python3
"""Writes tests/interop/references: tiny models of every family that `synth import` reads, with random
weights, and what the package transformers computes with them.

usage: make_import_references.py [NAME …]      needs: pip install torch transformers sentencepiece safetensors

Each folder is a model folder as transformers saves it, and beside it
  expected.safetensors   a padded batch (ids, lengths) and its logits
  expected.json          lines of text, their tokens, and what greedy and beam search write
"""

from __future__ import annotations

import io
import json
import pathlib
import shutil
import sys

import numpy
import sentencepiece
import torch
import transformers
from marian_model import marian_model
from safetensors.torch import save_file
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    MarianMTModel,
    MarianTokenizer,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACE = ROOT / "tests" / "interop" / "references"
LINES = [
    "Before we proceed any further, hear me speak.",
    "You are all resolved rather to die than to famish?",
    "We know't, we know't.",
    "Resolved.",
    "No more talking on't; let it be done: away, away!",
]


def text_lines(begin: int, end: int) -> list[str]:
    lines = (ROOT / "data" / "tiny-shakespeare" / "dev.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines[begin:end] if line.strip()]


def train_pieces(path: pathlib.Path, lines: list[str], size: int, **options) -> None:
    """A small SentencePiece model; without normalization its file is a few kilobytes."""
    if "normalization_rule_tsv" not in options:
        options["normalization_rule_name"] = "identity"
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=size,
        minloglevel=2,
        **options,
    )
    path.write_bytes(model.getvalue())


def pieces_of(path: pathlib.Path) -> list[str]:
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [model.id_to_piece(n) for n in range(model.get_piece_size())]


def shake(model: torch.nn.Module, seed: int) -> None:
    """Start values of norms and biases hide mistakes."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                spread = 0.5 if parameter.dim() == 2 and "embed" not in name and "shared" not in name else 0.2
                parameter.add_(torch.randn(parameter.shape, generator=generator) * spread)


def padded(rows: list[list[int]], filling: int) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(lengths.max())), filling)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = torch.tensor(row)
    return ids, lengths


def mask_of(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return (torch.arange(ids.size(1)) < lengths.unsqueeze(1)).long()


def sequence_logits(model, source: list[list[int]], target: list[list[int]], start: int, pad: int) -> dict:
    source_ids, source_lengths = padded(source, pad)
    target_ids, target_lengths = padded([[start, *row] for row in target], pad)
    with torch.no_grad():
        logits = model(
            input_ids=source_ids,
            attention_mask=mask_of(source_ids, source_lengths),
            decoder_input_ids=target_ids,
        ).logits
    return {
        "source": source_ids,
        "source_lengths": source_lengths,
        "target": target_ids,
        "target_lengths": target_lengths,
        "logits": logits.contiguous(),
    }


def searches(model, source: list[list[int]], pad: int) -> dict:
    """What is written for each source alone, without start and end. At the largest length transformers forces
    the end as if it were certain. Ours does so under decode.transformers_rules ("beam_default"); the other
    beam searches are not compared where they get there. "…cut": no end is forced there."""
    end = model.config.eos_token_id
    settings = {
        "greedy": {"num_beams": 1},
        "greedy_once": {"num_beams": 1, "no_repeat_ngram_size": 2},
        "beam": {"num_beams": 4, "early_stopping": True, "length_penalty": 0.6, "no_repeat_ngram_size": 2},
        "beam_never": {
            "num_beams": 3,
            "early_stopping": "never",
            "length_penalty": 0.0,
            "no_repeat_ngram_size": 3,
        },
        "beam_default": {"num_beams": 4, "early_stopping": False, "length_penalty": 1.0},
        "beam_renormalized": {
            "num_beams": 4,
            "early_stopping": False,
            "length_penalty": 1.0,
            "no_repeat_ngram_size": 2,
            "min_length": 7,
            "renormalize_logits": True,
        },
        "greedy_cut": {"num_beams": 1},
        "beam_cut": {"num_beams": 4, "early_stopping": False, "length_penalty": 1.0},
        "beam_cut_early": {"num_beams": 4, "early_stopping": True, "length_penalty": 2.0},
    }
    found = {}
    for name, setting in settings.items():
        found[name] = []
        for row in source:
            limit = 60 if name in ("beam", "beam_never") else 24
            out = model.generate(
                torch.tensor([row]),
                do_sample=False,
                max_length=limit,
                forced_eos_token_id=None if "cut" in name else end,
                return_dict_in_generate=True,
                output_scores=True,
                **setting,
            )
            ids = out.sequences[0].tolist()[1:]
            reached = name in ("beam", "beam_never") and len(out.scores) >= limit - 1
            found[name].append(None if reached else ids[: ids.index(end)] if end in ids else ids)
    return found


def write(folder: pathlib.Path, tensors: dict, expected: dict) -> None:
    save_file(tensors, str(folder / "expected.safetensors"))
    expected = {"transformers": transformers.__version__, **expected}
    text = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in expected.items()
    )
    (folder / "expected.json").write_text("{\n" + text + "\n}\n", encoding="utf-8")


def marian(folder: pathlib.Path, separate: bool, binary: bool, zero_start: bool = False) -> None:
    train_pieces(folder / "source.spm", text_lines(0, 1500), 120)
    train_pieces(folder / "target.spm", text_lines(1500, 3000), 130)
    source, target = pieces_of(folder / "source.spm"), pieces_of(folder / "target.spm")

    def numbered(*lists: list[str]) -> dict[str, int]:
        words = ["</s>", "<unk>", *sorted({w for words in lists for w in words} - {"</s>", "<unk>", "<s>"})]
        return {word: n for n, word in enumerate([*words, ">>fra<<", "<pad>"])}

    vocabulary = numbered(source) if separate else numbered(source, target)
    target_vocabulary = numbered(target) if separate else vocabulary
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    if separate:
        (folder / "target_vocab.json").write_text(json.dumps(target_vocabulary), encoding="utf-8")
    pad = vocabulary["<pad>"]
    target_pad = target_vocabulary["<pad>"]
    torch.manual_seed(1)
    model = marian_model(
        words=len(vocabulary),
        target_words=len(target_vocabulary),
        width=16,
        layers=2,
        heads=4,
        feed_forward=24,
        decoder_layers=1 if separate else 2,
        max_position_embeddings=64,
        activation_function="relu" if separate else "swish",
        scale_embedding=True,
        share_encoder_decoder_embeddings=not separate,
    )
    shake(model, 2)
    model.generation_config.update(bad_words_ids=[[target_pad]], num_beams=4, max_length=24)
    model.final_logits_bias.copy_(
        torch.randn(model.final_logits_bias.shape, generator=torch.Generator().manual_seed(3))
    )
    model.final_logits_bias[0, 0] += 3 if separate else 2  # so that texts end
    if zero_start:
        with torch.no_grad():
            model.model.shared.weight[pad] = 0
            model.final_logits_bias[0, pad] = 0
    if binary:
        model.config.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    else:
        model.save_pretrained(folder)
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        target_vocab_file=str(folder / "target_vocab.json") if separate else None,
        separate_vocabs=separate,
    )
    lines = [*LINES, ">>fra<< Speak, speak.", "Ünknown çharacters"]
    rows = [tokenizer(line)["input_ids"] for line in lines]
    targets = [tokenizer(text_target=line)["input_ids"] for line in LINES[::-1] + LINES[:2]]
    found = searches(model, rows, pad)
    written = {
        name: [ids and tokenizer.decode(ids, skip_special_tokens=True) if ids != [] else "" for ids in each]
        for name, each in found.items()
    }
    write(
        folder,
        sequence_logits(model, rows, targets, target_pad, pad),
        {
            "lines": lines,
            "tokens": rows,
            "target_lines": LINES[::-1] + LINES[:2],
            "target_tokens": targets,
            "found": found,
            "written": written,
        },
    )


def t5(folder: pathlib.Path, version: str) -> None:
    train_pieces(
        folder / "spiece.model",
        text_lines(0, 3000),
        120,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        pad_piece="<pad>",
    )
    old = version == "1.0"
    size = len(pieces_of(folder / "spiece.model")) + 100 + 4  # more rows than tokens, as theirs
    config = T5Config(
        vocab_size=size,
        d_model=16,
        d_kv=4,
        num_heads=4 if old else 3,
        num_layers=2,
        num_decoder_layers=2 if old else 1,
        d_ff=24,
        feed_forward_proj="relu" if old else "gated-gelu",
        n_positions=64,
        decoder_start_token_id=0,
        tie_word_embeddings=old,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    rows = [[*pieces.encode(line), 1] for line in LINES]
    targets = rows[::-1]
    torch.manual_seed(4)
    model = T5ForConditionalGeneration(config).eval()
    if not old:
        model.lm_head.weight = torch.nn.Parameter(torch.randn(size, 16) * 0.3)
    shake(model, 5)
    found = searches(model, rows, 0)
    model.save_pretrained(folder)
    limit = pieces.get_piece_size()
    written = {
        name: [ids and pieces.decode([i for i in ids if 2 < i < limit]) if ids != [] else "" for ids in each]
        for name, each in found.items()
    }
    write(
        folder,
        sequence_logits(model, rows, targets, 0, 0),
        {
            "lines": LINES,
            "tokens": rows,
            "target_lines": LINES[::-1],
            "target_tokens": targets,
            "found": found,
            "written": written,
        },
    )


def gpt2(folder: pathlib.Path) -> None:
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(text_lines(0, 3000), vocab_size=340, special_tokens=["<|endoftext|>"])
    trainer.save_model(str(folder))
    tokenizer = GPT2Tokenizer.from_pretrained(folder)
    end = tokenizer.eos_token_id
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=16,
        n_layer=2,
        n_head=4,
        n_positions=64,
        bos_token_id=end,
        eos_token_id=end,
    )
    torch.manual_seed(6)
    model = GPT2LMHeadModel(config).eval()
    shake(model, 7)
    model.save_pretrained(folder)
    lines = [
        *LINES,
        "  two  spaces\n\nand lines \n",
        "naïve 東京 😀 don't I'LL <|endoftext|>x",
        "1234 a1b2 --- ?!",
        "\t tab",
    ]
    rows = [tokenizer(line)["input_ids"] for line in lines]
    ids, lengths = padded(rows, 0)
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=mask_of(ids, lengths)).logits
    written = []
    for row in rows:
        ended = model.generate(
            torch.tensor([row]),
            attention_mask=torch.ones(1, len(row)).long(),
            do_sample=False,
            max_new_tokens=16,
            pad_token_id=end,
        )[0].tolist()[len(row) :]
        ended = ended[: ended.index(end)] if end in ended else ended
        written.append(tokenizer.decode(ended, skip_special_tokens=True))
    write(
        folder,
        {"tokens": ids, "lengths": lengths, "logits": logits.contiguous()},
        {"lines": lines, "tokens": rows, "written": written},
    )


def bert(folder: pathlib.Path, cased: bool) -> None:
    trainer = BertWordPieceTokenizer(lowercase=not cased)
    trainer.train_from_iterator(text_lines(0, 3000), vocab_size=200, show_progress=False)
    trainer.save_model(str(folder))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": not cased}))
    tokenizer = BertTokenizer.from_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer) + 3,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=64,
        num_labels=3,
        id2label={0: "bad", 1: "so so", 2: "good"},
        label2id={"bad": 0, "so so": 1, "good": 2},
    )
    torch.manual_seed(8)
    model = BertForSequenceClassification(config).eval()
    shake(model, 9)
    model.save_pretrained(folder)
    lines = [
        *LINES,
        "Ünnötig crème brûlée İSTANBUL",
        "東京 tower",
        "a[MASK]b \u200b zero\u00a0width",
        "x" * 120,
        "Ελληνικός",
    ]
    rows = [tokenizer(line)["input_ids"] for line in lines]
    rows = [row[:60] for row in rows]
    ids, lengths = padded(rows, 0)
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=mask_of(ids, lengths)).logits
    write(
        folder,
        {"tokens": ids, "lengths": lengths, "logits": logits.contiguous()},
        {"lines": lines, "tokens": rows, "labels": [config.id2label[int(n)] for n in logits.argmax(1)]},
    )


MARIAN_NAMES = {
    "self_attn.q_proj": "self_Wq self_bq",
    "self_attn.k_proj": "self_Wk self_bk",
    "self_attn.v_proj": "self_Wv self_bv",
    "self_attn.out_proj": "self_Wo self_bo",
    "self_attn_layer_norm": "self_Wo_ln_scale self_Wo_ln_bias",
    "encoder_attn.q_proj": "context_Wq context_bq",
    "encoder_attn.k_proj": "context_Wk context_bk",
    "encoder_attn.v_proj": "context_Wv context_bv",
    "encoder_attn.out_proj": "context_Wo context_bo",
    "encoder_attn_layer_norm": "context_Wo_ln_scale context_Wo_ln_bias",
    "fc1": "ffn_W1 ffn_b1",
    "fc2": "ffn_W2 ffn_b2",
    "final_layer_norm": "ffn_ffn_ln_scale ffn_ffn_ln_bias",
}


def marian_npz(folder: pathlib.Path) -> None:
    """The MarianMT of the reference "marian" in Marian's own files: its start token is a vector of zeros."""
    marian(folder, False, False, zero_start=True)
    model = MarianMTModel.from_pretrained(folder)
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    pad = vocabulary.pop("<pad>")
    arrays = {
        "Wemb": model.model.shared.weight[:pad],
        "decoder_ff_logit_out_b": model.final_logits_bias[:, :pad],
    }
    for name, tensor in model.model.named_parameters():
        side, _, rest = name.partition(".layers.")
        if not rest:
            continue
        number, _, place = rest.partition(".")
        module, _, kind = place.rpartition(".")
        theirs = MARIAN_NAMES[module].split()[kind == "bias"]
        arrays[f"{side}_l{int(number) + 1}_{theirs}"] = (
            tensor.t() if tensor.dim() == 2 else tensor.unsqueeze(0)
        )
    settings = {
        "type": "transformer",
        "dim-emb": 16,
        "enc-depth": 2,
        "dec-depth": 2,
        "transformer-heads": 4,
        "transformer-dim-ffn": 24,
        "transformer-ffn-activation": "swish",
        "transformer-preprocess": '""',
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "tied-embeddings-all": "true",
        "transformer-decoder-autoreg": "self-attention",
        "dim-vocabs": f"\n  - {pad}\n  - {pad}",
    }
    text = "".join(f"{key}: {value}\n" for key, value in settings.items())
    plain = {name: tensor.detach().contiguous().numpy() for name, tensor in arrays.items()}
    numpy.savez(
        folder / "model.npz",
        **plain,
        **{"special:model.yml": numpy.frombuffer(text.encode() + b"\0", "int8")},
    )
    quoted = "".join(
        f"{json.dumps(piece, ensure_ascii=number % 2 == 0)}: {number}\n"
        for piece, number in vocabulary.items()
    )
    (folder / "vocab.yml").write_text(quoted, encoding="utf-8")
    (folder / "decoder.yml").write_text(
        "models:\n  - model.npz\nvocabs:\n  - vocab.yml\n  - vocab.yml\n"
        "beam-size: 6\nnormalize: 1\nword-penalty: 0\n"
    )
    for name in ("config.json", "generation_config.json", "model.safetensors", "vocab.json"):
        (folder / name).unlink()


def saved_tokenizers(folder: pathlib.Path) -> None:
    """Tokenizers as transformers saves them: of three families, and of a T5 whose normalizer changes texts.

    Made after those families, whose folders it reads."""
    saved = ("tokenizer.json", "tokenizer_config.json")
    for family, kind in [("t5-1.0", T5Tokenizer), ("gpt2", GPT2Tokenizer), ("bert", BertTokenizer)]:
        whole = folder / family
        kind.from_pretrained(PLACE / family).save_pretrained(whole)
        for file in whole.iterdir():
            if file.name not in saved:
                file.unlink()

    place = folder / "t5-characters"
    place.mkdir()
    changed = {
        "ﬁ": "fi",
        "ﬂ": "fl",
        "Ａ": "A",
        "…": "...",
        "“": '"',
        "”": '"',
        "\u00a0": " ",
        "ü": "ue",
        "Ｗ": "W",
    }
    rules = place / "rules.tsv"
    codes = [["".join(f"{ord(c):X} " for c in text).strip() for text in rule] for rule in changed.items()]
    rules.write_text("".join("\t".join(rule) + "\n" for rule in codes))
    lines = [line for line in text_lines(0, 3000) if line.isascii()]
    special = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1, "pad_piece": "<pad>"}
    options = {"model_type": "unigram", "normalization_rule_tsv": str(rules), **special}
    train_pieces(place / "spiece.model", lines, 120, **options)
    rules.unlink()
    T5Tokenizer.from_pretrained(place).save_pretrained(place)
    tokenizer = T5Tokenizer.from_pretrained(place)
    told = [
        *LINES[:4],
        "Ａ ﬁne ﬂower … “We”\u00a0know über Ｗ",
        "  two   spaces  ",
        "<extra_id_0> know <extra_id_1> </s> x <unk>",
        "ж",
        "aжb жж c",
        "",
    ]
    expected = {"lines": told, "tokens": [tokenizer(line)["input_ids"] for line in told]}
    (place / "expected.json").write_text(
        json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


FAMILIES = {
    "t5-1.0": lambda folder: t5(folder, "1.0"),
    "t5-1.1": lambda folder: t5(folder, "1.1"),
    "gpt2": gpt2,
    "bert": lambda folder: bert(folder, False),
    "bert-cased": lambda folder: bert(folder, True),
    "marian": lambda folder: marian(folder, False, False),
    "marian-npz": marian_npz,
    "marian-separate": lambda folder: marian(folder, True, True),
    "saved-tokenizers": saved_tokenizers,
}


def main() -> None:
    for name in sys.argv[1:] or FAMILIES:
        folder = PLACE / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        FAMILIES[name](folder)
        print(name, sum(file.stat().st_size for file in folder.iterdir()) // 1024, "KB")


if __name__ == "__main__":
    main()
