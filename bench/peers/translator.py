"""A peer's translations: python -m peers.translator KIND FOLDER SETTING

Loads the weights and the source that `synth bench decode --peer-folder FOLDER` left, and translates for every
line, which says how many sentences and how many beams. KIND is eager, eager-R, ctranslate2-float32 or
ctranslate2-int8; for the last two, conversion.py has been there before.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable

import measure
import torch
from safetensors.torch import load_file
from torch import Tensor

Translate = Callable[[int, int], list]


def eager(folder: str, setting: dict, source: Tensor) -> Translate:
    from .cached import beam_search, greedy
    from .transformer import Model

    weights = load_file(f"{folder}/model.safetensors")
    length = source.size(1)
    for name, tensor in weights.items():  # the encoder uses the corner of its tables that the source fills
        if name.startswith("encoder.") and name.endswith(".table"):
            weights[name] = tensor[:, :length, :length]
    model = Model(setting, weights).eval()

    @torch.inference_mode()
    def translate(beam: int, batch: int) -> list:
        if beam == 1:
            return greedy(model, source[:batch], setting).tolist()
        return beam_search(model, source[:batch], setting, beam).tolist()

    return translate


def ctranslate2(folder: str, setting: dict, source: Tensor, compute_type: str) -> Translate:
    import ctranslate2

    translator = ctranslate2.Translator(
        f"{folder}/ctranslate2", compute_type=compute_type, inter_threads=1, intra_threads=setting["threads"]
    )
    words = [[str(token) for token in sentence] for sentence in source.tolist()]
    length = setting["length"]

    def translate(beam: int, batch: int) -> list:
        results = translator.translate_batch(
            words[:batch],
            beam_size=beam,
            num_hypotheses=beam,
            min_decoding_length=length,
            max_decoding_length=length,
        )
        return [[[int(word) for word in words] for words in result.hypotheses] for result in results]

    return translate


def main() -> None:
    kind, folder, setting = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    torch.set_num_threads(setting["threads"])
    before = measure.status_bytes("VmRSS")
    source = load_file(f"{folder}/tokens.safetensors")["source"]
    if kind.startswith("eager"):
        translate = eager(folder, setting, source)
    else:
        translate = ctranslate2(folder, setting, source, kind.removeprefix("ctranslate2-"))
    with contextlib.suppress(OSError):
        measure.reset_peak()  # weights lie there twice while they are loaded
    print("{}", flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        begin = time.perf_counter()
        outputs = translate(wanted["beam"], wanted["batch"])
        done = {"seconds": time.perf_counter() - begin, "tokens": wanted["batch"] * setting["length"]}
        done |= {"peak": measure.status_bytes("VmHWM") - before, "outputs": outputs}
        print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main()
