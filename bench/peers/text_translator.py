"""Translations of texts by an imported model: python -m peers.text_translator KIND FOLDER SETTING

FOLDER holds the model of Hugging Face (model), ours of it (run) and CTranslate2's (ctranslate2), and the
texts. Every line says how many of them and how many beams. KIND is ours, transformers or ctranslate2. All
tokenize, translate and make texts again, each with its own means.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import measure
import torch

Translate = Callable[[list[str], int], list[list[str]]]  # texts and beam to hypotheses of each


def ours(folder: Path, setting: dict) -> Translate:
    import synthesizer

    model, length = synthesizer.load(folder / "run"), setting["length"]

    def translate(texts: list[str], beam: int) -> list[list[str]]:
        found = model.translate(texts, beam=beam, nbest=beam, min_length=length, max_length=length)
        return [[one] for one in found] if beam == 1 else [[text for text, _ in best] for best in found]

    return translate


def transformers(folder: Path, setting: dict) -> Translate:
    from transformers import MarianMTModel, MarianTokenizer

    model = MarianMTModel.from_pretrained(folder / "model").eval()
    tokenizer = MarianTokenizer.from_pretrained(folder / "model")
    length = setting["length"] + 2  # it counts the start and the end

    @torch.inference_mode()
    def translate(texts: list[str], beam: int) -> list[list[str]]:
        fed = tokenizer(texts, return_tensors="pt", padding=True)
        found = model.generate(
            **fed,
            num_beams=beam,
            num_return_sequences=beam,
            min_length=length,
            max_length=length,
            early_stopping=beam > 1,
            length_penalty=1.0,
        )
        written = tokenizer.batch_decode(found, skip_special_tokens=True)
        return [written[n * beam : (n + 1) * beam] for n in range(len(texts))]

    return translate


def ctranslate2(folder: Path, setting: dict) -> Translate:
    import ctranslate2
    import sentencepiece

    translator = ctranslate2.Translator(str(folder / "ctranslate2"), intra_threads=setting["threads"])
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "model/source.spm"))
    length = setting["length"]

    def translate(texts: list[str], beam: int) -> list[list[str]]:
        results = translator.translate_batch(
            pieces.encode(texts, out_type=str),
            beam_size=beam,
            num_hypotheses=beam,
            min_decoding_length=length,
            max_decoding_length=length,
        )
        return [["".join(words).replace("▁", " ") for words in result.hypotheses] for result in results]

    return translate


KINDS = {"ours": ours, "transformers": transformers, "ctranslate2": ctranslate2}


def main() -> None:
    kind, folder, setting = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    torch.set_num_threads(setting["threads"])
    before = measure.status_bytes("VmRSS")
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    translate = KINDS[kind](folder, setting)
    with contextlib.suppress(OSError):
        measure.reset_peak()
    print("{}", flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        begin = time.perf_counter()
        outputs = translate(texts[: wanted["batch"]], wanted["beam"])
        done = {"seconds": time.perf_counter() - begin, "tokens": wanted["batch"] * setting["length"]}
        done |= {"peak": measure.status_bytes("VmHWM") - before}
        done |= {"outputs": [[text.split() for text in best] for best in outputs]}
        print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main()
