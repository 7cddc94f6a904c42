"""Whether a point fits: how much memory a layer is going to take, and how much there is."""

from __future__ import annotations

import measure
from peers.eager import FORMULAS

from .points import TABLES, Point

SHARE = 0.5  # of what is available: others live on the machine, too


def available() -> int:
    """Bytes; where the system doesn't say, enough for anything short."""
    try:
        return measure.proc_bytes("meminfo", "MemAvailable")
    except OSError:
        return 4 << 30


def needed(point: Point, name: str, training: bool) -> int:
    """Bytes, about, parameters included: the L×L matrices alone, which are nearly all where it matters.

    How many of them live at once was read off measured peaks.
    """
    if point.members[0] not in FORMULAS:  # baselines grow with the length, not its square
        return 0
    tables = sum(member in ("R", "Fix") for member in point.members)  # parameters
    more = len(point.members) - 1
    if name == "eager":
        each = 3.5 + 2 * more if training else 2.3 + more
        # Ours runs beside it; prepared it holds weights and, where it is no parameter, the table.
        kept = 0 if training or not point.has_precomputed_weights else 1 + (tables == 0)
        count = tables + kept + point.batch * each
    else:
        count = tables + (2.5 + more if training else 2) if set(point.members) & TABLES else 0
    return int(count * 4 * point.heads * point.length**2)


def too_large(point: Point, name: str, training: bool) -> str:
    """Why it is left out; nothing where it fits."""
    wanted, there = needed(point, name, training), available()
    if wanted <= SHARE * there:
        return ""
    return f"too large: about {wanted / 2**30:.1f} GiB, with {there / 2**30:.1f} GiB available"
