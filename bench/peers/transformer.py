"""The whole models in plain PyTorch, as a person would write them; parameters are named as ours are, so that
our weights can be loaded."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import convolution, eager, linformer
from .layer import Layer


def sinusoids(length: int, width: int) -> Tensor:
    place = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(1e4) / width))
    angle = place * rate
    return torch.stack([angle.sin(), angle.cos()], 2).view(length, width).float()


class CrossAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(width, width))

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        query, key, value = (
            self.split(self.query(x)),
            self.split(self.key(memory)),
            self.split(self.value(memory)),
        )
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), -1)
        return self.output((weights @ value).transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int, activation) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.activation(self.into(x)))


class Block(nn.Module):
    """Attention, cross-attention where there is a memory, feed-forward; norms first."""

    def __init__(self, setting: dict, attention: nn.Module, cross: bool) -> None:
        super().__init__()
        width = setting["width"]
        self.attention_norm, self.attention = nn.LayerNorm(width), attention
        if cross:
            self.cross_norm, self.cross = nn.LayerNorm(width), CrossAttention(width, setting["heads"])
        self.feed_forward_norm, self.dropout = nn.LayerNorm(width), nn.Dropout(setting["dropout"])
        self.feed_forward = FeedForward(width, setting["feed_forward"], getattr(F, setting["activation"]))

    def forward(self, x: Tensor, memory: Tensor | None) -> Tensor:
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        if memory is not None:
            x = x + self.dropout(self.cross(self.cross_norm(x), memory))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class Stack(nn.Module):
    def __init__(self, setting: dict, weights: dict[str, Tensor], name: str, cross: bool) -> None:
        super().__init__()
        causal = name == "decoder"
        self.layers = nn.ModuleList()
        for n in range(setting["layers"]):
            start = f"{name}.layers.{n}.attention."
            own = {
                key.removeprefix(start): nn.Parameter(torch.empty_like(value))
                for key, value in weights.items()
                if key.startswith(start)
            }
            self.layers.append(Block(setting, make_attention(setting, own, causal), cross))
        if f"{name}.positions.weight" in weights:
            self.positions = nn.Embedding(setting["max_length"], setting["width"])
        else:
            self.register_buffer(
                "sinusoids", sinusoids(setting["max_length"], setting["width"]), persistent=False
            )
        self.norm, self.dropout = nn.LayerNorm(setting["width"]), nn.Dropout(setting["dropout"])

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        places = self.positions.weight if hasattr(self, "positions") else self.sinusoids
        x = self.dropout(x + places[: x.size(1)])
        for layer in self.layers:
            x = layer(x, memory)
        return self.norm(x)


def make_attention(setting: dict, weights: dict[str, Tensor], causal: bool) -> nn.Module:
    name, length = setting["attention"], setting["length"]
    if name in convolution.NAMES:
        return convolution.Convolution(name, setting["heads"], weights, causal)
    if name == linformer.NAME:
        return linformer.Linformer(setting["heads"], weights)
    members = name.split("+")
    return Layer(members, setting["heads"], weights, eager.make_core(members, length, causal))


class Model(nn.Module):
    """The loss of one batch: a language model, a translator or a classifier, by what the setting says."""

    def __init__(self, setting: dict, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.task, self.scale = setting["task"], math.sqrt(setting["width"])
        self.embedding = nn.Embedding(*weights["embedding.weight"].shape)
        if self.task != "language-model":
            self.encoder = Stack(setting, weights, "encoder", cross=False)
        if self.task != "classification":
            self.decoder = Stack(setting, weights, "decoder", cross=self.task == "translation")
        else:
            self.classes = nn.Linear(setting["width"], weights["classes.weight"].size(0), bias=False)
        # Ours is called "in", which torch.compile cannot write into its code.
        self.load_state_dict({name.replace(".in.", ".into."): tensor for name, tensor in weights.items()})

    def embed(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens) * self.scale

    def forward(self, tokens: dict[str, Tensor]) -> Tensor:
        memory = None
        if self.task != "language-model":
            memory = self.encoder(self.embed(tokens["source"]))
        if self.task == "classification":
            pooled = self.encoder.dropout(memory.mean(1))
            return F.cross_entropy(self.classes(pooled), tokens["labels"])
        hidden = self.decoder(self.embed(tokens["target"][:, :-1]), memory)
        logits = F.linear(hidden, self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1), tokens["target"][:, 1:].flatten())
