"""What may be asked for on the command line, and what is measured unless asked otherwise."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import torch
from peers.eager import FORMULAS

import synthesizer

from .competitors import PEERS
from .setting import Setting
from .targets import MAIN

SHAPES = ["32x128", "8x512", "2x2048"]
MIXTURES = ["R+V", "D+V", "D+R", "FR+V"]


def list_of(known: list[str]):
    def parse(text: str) -> list[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(known)}")
        return chosen

    return parse


def numbers(most: int | None = None):
    def parse(text: str) -> list[int]:
        chosen = [int(n) for n in text.split(",")]  # what is no number, argparse refuses by itself
        for n in chosen:
            if n < 1 or (most and n > most):
                raise argparse.ArgumentTypeError(f"{n} is not {f'from 1 to {most}' if most else 'above 0'}")
        return chosen

    return parse


def attentions(text: str) -> list[str]:
    for member in re.split("[,+]", text):
        if member not in FORMULAS:
            raise argparse.ArgumentTypeError(
                f"'{member}' has no peer: add its formula to bench/peers/eager.py"
            )
    return text.split(",")


def shapes(text: str) -> list[tuple[int, int]]:
    try:
        return [tuple(map(int, re.fullmatch(r"(\d+)[x×](\d+)", s).groups())) for s in text.split(",")]
    except AttributeError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of BATCHxLENGTH") from None


def arguments(about: str) -> argparse.Namespace:
    everything = [v["short"] for v in synthesizer.variants() if v["short"] in FORMULAS] + MIXTURES
    p = argparse.ArgumentParser(prog="bench attention", description=about.split("\n")[0])
    p.add_argument(
        "--attention",
        type=attentions,
        default=everything,
        help="list, default: all and four mixtures",
    )
    p.add_argument("--shapes", type=shapes, help=f"list, default {','.join(SHAPES)}")
    p.add_argument("--causal", action=argparse.BooleanOptionalAction, help="default: both")
    p.add_argument("--parts", type=list_of(["core", "layer"]), help="default: core,layer")
    p.add_argument("--passes", type=list_of(["forward", "both"]), default=["forward", "both"])
    p.add_argument("--peers", type=list_of(list(PEERS)), default=list(PEERS))
    p.add_argument(
        "--repeats",
        type=int,
        default=3,
        help="rounds of a setting, at least (default %(default)s)",
    )
    p.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        help="more rounds until this is used up (%(default)s)",
    )
    p.add_argument("--threads", type=int, default=torch.get_num_threads())
    p.add_argument(
        "--thorough",
        action="store_true",
        help="slow peers in all settings (much compiling)",
    )
    p.add_argument("--no-memory", action="store_true", help="leave out peak memory")
    p.add_argument(
        "--quick",
        action="store_true",
        help="the core at 8x512, causal, without memory, unless asked for",
    )
    p.add_argument("--out", type=Path, default=Path("build/bench/attention"))
    a = p.parse_args()
    a.shapes = a.shapes or shapes("8x512" if a.quick else ",".join(SHAPES))
    a.parts = a.parts or (["core"] if a.quick else ["core", "layer"])
    a.causal = [a.causal] if a.causal is not None else [True] if a.quick else [True, False]
    a.no_memory = a.no_memory or a.quick
    return a


def peers_for(setting: Setting, a: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """Who is measured in this setting, and who is spared.

    Compiling takes many times longer than measuring, so those who compile run where targets stand and at the
    main shape, unless all is asked for.
    """
    everywhere = a.thorough or setting.shape == MAIN or (setting.part == "core" and setting.causal)
    spared = [] if everywhere else [peer for peer in a.peers if peer in ("compile", "flex")]
    reason = f"but for the causal core at {MAIN} alone, to save the time of compiling (--thorough: all)"
    return [peer for peer in a.peers if peer not in spared], {peer: reason for peer in spared}
