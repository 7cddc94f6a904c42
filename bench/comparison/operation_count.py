"""How many multiply-adds a training step needs at least: those of its matrix products, forward and
twice backward."""

from __future__ import annotations


def mixing(facts: dict, attention: str, causal: bool) -> float:
    """Multiply-adds of one attention layer, forward, for one token."""
    width, length = facts["width"], facts["length"]
    if attention.endswith("conv"):
        return (
            3 * width * width + (width * facts["heads"] * 7 if attention == "dynamic-conv" else 0) + 7 * width
        )
    seen = length / 2 if causal else length
    total = 2 * width * width + width * seen  # values, output, and the weighted sum
    for member in attention.split("+"):
        total += {
            "V": 2 * width * width + width * seen,
            "D": width * width + width * seen,
            "FD": width * width,
        }.get(member, 0)
    return total


def step_multiply_adds(facts: dict) -> float:
    width, length, attention = facts["width"], facts["length"], facts["attention"]
    feed_forward = 2 * width * facts["feed_forward"]
    tokens = facts["batch"] * length
    total = 0.0
    if facts["task"] != "language-model":
        total += tokens * facts["layers"] * (mixing(facts, attention, False) + feed_forward)
    if facts["task"] != "classification":
        total += tokens * facts["layers"] * (mixing(facts, attention, True) + feed_forward)
        total += tokens * width * facts["vocabulary"]
    if facts["task"] == "translation":
        total += tokens * facts["layers"] * (4 * width * width + 2 * width * length)
    return 3 * total
