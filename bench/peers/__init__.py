"""The peers: the same formulas as a person would write them in PyTorch, one file per way of running them.

All take the same named inputs (see comparison/setting.py), so that core and layer are written once:

    V.query, V.key    B×H×L×K                 D.row  B×H×L×K    D.weight  H×K×L    D.bias  H×L
    R.table           H×L×L                   Fix.table  H×L×L, not trained
    FR.left, FR.right H×L×k                   FD.left  B×H×L×a    FD.right  B×H×L×b
    mixture           n, before its softmax   value  B×H×L×K
"""

from torch import Tensor

Inputs = dict[str, Tensor]


class NotSupported(Exception):
    """A peer that can't take part in a setting; the text says why."""
