"""What the tests run over. The variants come from the registry: one more there is one more here."""

import torch

import synthesizer

VARIANTS = [variant["short"] for variant in synthesizer.variants()]
GLOBAL = [variant["short"] for variant in synthesizer.variants() if variant["sample"] == "global"]
MIXTURES = [
    "R+V",
    "V+R",
    "D+V",
    "R+D",
    "Fix+V",
    "FR+V",
    "FD+V",
    "R+FR",
    "Fix+R",
    "D+FD",
    "D+FR+V",
    "V+D+R+Fix+FR+FD",
]
SPECS = VARIANTS + MIXTURES

# Every option of every variant, off its default.
OPTIONS = [
    ("V", {"bias": True}),
    ("R+V", {"bias": True, "weights": "sum"}),
    ("R+V", {"weights": "learned-per-head"}),
    ("V+D+R+Fix+FR+FD", {"weights": "learned-per-head"}),
    ("R+Fix+FR", {"weights": "sum"}),
    ("D", {"hidden": 0}),
    ("D", {"hidden": 5}),
    ("D", {"share_heads": True}),
    ("D+V", {"share_heads": True, "hidden": 0}),
    ("R", {"init_std": 0.1}),
    ("Fix", {"init_std": 0}),
    ("FR", {"rank": 1, "init_std": 2.5}),
    ("FD", {"hidden": 0}),
    ("FD", {"hidden": 3, "a": 3}),
    ("FD", {"b": 4}),
    ("FD", {"a": 7, "b": 5, "tiling": "tile"}),
    ("FD+V", {"tiling": "tile"}),
]

WIDTH, HEADS, LONGEST = 24, 3, 33
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.bfloat16: 5e-2}


def name(value):
    """For test ids: the options of a case, shortly."""
    if isinstance(value, dict):
        return ",".join(f"{key}={v}" for key, v in value.items())
    return str(value).removeprefix("torch.") if isinstance(value, (str, torch.dtype)) else None


def layer(
    spec="R+V", *, width=WIDTH, heads=HEADS, max_length=LONGEST, dtype=torch.float32, seed=0, **options
):
    """A layer in which nothing is zero: biases and mixture weights start at 0 and would hide mistakes."""
    torch.manual_seed(seed)
    made = synthesizer.Attention(spec, width, heads, max_length, dtype=dtype, **options)
    with torch.no_grad():
        for key, parameter in made.named_parameters():
            if key.endswith("bias") or key.endswith("mixture"):
                parameter.normal_(0, 0.5)
    return made


def wide(module):
    """Its parameters and buffers by name in float64, fresh leaves for a gradient of their own."""
    state = {key: tensor.detach().double() for key, tensor in module.state_dict().items()}
    trained = dict(module.named_parameters())
    return {key: tensor.requires_grad_(key in trained) for key, tensor in state.items()}


def close(ours, theirs, dtype, scale=1.0):
    """Within the dtype's tolerance of the largest entry."""
    ours, theirs = ours.detach().double(), theirs.detach().double()
    assert ours.shape == theirs.shape
    if ours.numel() == 0:
        return
    assert torch.isfinite(ours).all()
    bound = scale * TOLERANCE[dtype] * max(1.0, theirs.abs().max().item())
    assert (ours - theirs).abs().max().item() <= bound
