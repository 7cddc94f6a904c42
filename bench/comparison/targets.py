"""What is to be reached, for the core, causal, in float32; and what was reached."""

from __future__ import annotations

from .setting import Setting

MAIN, SHORT, LONG = "8×512", "32×128", "2×2048"


def _main_target(setting: Setting, passes: str, peer: str) -> float | None:
    demanding = len(setting.members) > 1 or setting.attention == "FD"
    if peer == "eager":
        return {
            "forward": 4.0 if demanding else 5.0,
            "both": 3.0 if demanding else 3.5,
        }[passes]
    if peer == "compile":
        return 2.0
    if peer == "sdpa" and setting.attention == "V":
        return 1.3
    return None


def speed_target(setting: Setting, passes: str, peer: str, main_ratio: float | None) -> float | None:
    """The ratio wanted, or None. main_ratio: what the same comparison gave at 8×512, if it was held.

    Short sequences: no slower than any peer. Long ones: at least what 8×512 reached.
    """
    if setting.part != "core" or not setting.causal:
        return None
    if setting.shape == MAIN:
        return _main_target(setting, passes, peer)
    if setting.shape == SHORT:
        return 1.0
    if setting.shape == LONG and _main_target(setting, passes, peer) is not None:
        return main_ratio if main_ratio is not None else _main_target(setting, passes, peer)
    return None


def memory_target(setting: Setting) -> float:
    """The largest part of eager's peak memory allowed: a quarter, but for global ones only less than all."""
    return 1.0 if setting.is_global else 0.25


def judge(records: list[dict]) -> None:
    """Writes into the peers of every record the ratio wanted, where one is, and whether it was reached."""

    def key(r):
        return (r["attention"], r["causal"], r["part"], r["passes"])

    main = {key(r): r["peers"] for r in records if r["shape"] == MAIN}
    for record in records:
        setting = Setting(
            record["attention"],
            record["batch"],
            record["length"],
            record["causal"],
            record["part"],
        )
        for peer, entry in record["peers"].items():
            main_ratio = main.get(key(record), {}).get(peer, {}).get("ratio")
            wanted = speed_target(setting, record["passes"], peer, main_ratio)
            if wanted is not None:
                entry["wanted"], entry["reached"] = wanted, entry["ratio"] >= wanted
