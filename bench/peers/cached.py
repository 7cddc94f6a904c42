"""Translating with the eager model: keys and values of earlier tokens are kept, those of the source are made
once a sentence, and beams are chosen with topk."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from .layer import Layer, project
from .transformer import CrossAttention, Model


class Memory:
    """What the decoder keeps between tokens, for batch·beam rows."""

    def __init__(self, model: Model, source: Tensor) -> None:
        self.model, self.place = model, 0
        seen = model.encoder(model.embed(source))
        crosses = [layer.cross for layer in model.decoder.layers]
        self.source = [(c.split(c.key(seen)), c.split(c.value(seen))) for c in crosses]  # B×H×S×K
        self.past: list[dict[str, Tensor]] = [{} for _ in crosses]  # rows×H×T×K

    def keep(self, n: int, name: str, new: Tensor) -> Tensor:
        old = self.past[n].get(name)
        self.past[n][name] = new if old is None else torch.cat([old, new], 2)
        return self.past[n][name]

    def select(self, rows: Tensor) -> None:
        """Rows go on with what these had; beams of a sentence share its source."""
        for past in self.past:
            for name, tensor in past.items():
                past[name] = tensor.index_select(0, rows)

    def attend(self, n: int, layer: Layer, x: Tensor) -> Tensor:
        if layer.members == ["V"]:
            own = layer.logits.V
            query = layer.split(project(own.query, x))
            key = self.keep(n, "key", layer.split(project(own.key, x)))
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # rows×H×1×T
        else:
            scores = layer.logits.R.table[:, self.place : self.place + 1, : self.place + 1]  # H×1×T
        value = self.keep(n, "value", layer.split(project(layer.value, x)))
        return project(layer.output, (torch.softmax(scores, -1) @ value).transpose(1, 2).flatten(2))

    def cross_attend(self, n: int, cross: CrossAttention, x: Tensor) -> Tensor:
        key, value = self.source[n]
        query = cross.split(cross.query(x).view(key.size(0), -1, x.size(-1)))  # B×H×beam×K
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), -1)
        return cross.output((weights @ value).transpose(1, 2).reshape(x.shape))

    def next(self, tokens: Tensor) -> Tensor:
        """The logits after one more token of every row."""
        decoder = self.model.decoder
        x = self.model.embed(tokens).unsqueeze(1) + decoder.sinusoids[self.place]  # rows×1×D
        for n, layer in enumerate(decoder.layers):
            x = x + self.attend(n, layer.attention, layer.attention_norm(x))
            x = x + self.cross_attend(n, layer.cross, layer.cross_norm(x))
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        self.place += 1
        return F.linear(decoder.norm(x.squeeze(1)), self.model.embedding.weight)


def greedy(model: Model, source: Tensor, setting: dict) -> Tensor:
    memory = Memory(model, source)
    words = [torch.full((source.size(0),), setting["begin"])]
    for _ in range(setting["length"]):
        logits = memory.next(words[-1])
        logits[:, setting["end"]] = -math.inf
        words.append(logits.argmax(1))
    return torch.stack(words[1:], 1).unsqueeze(1)  # B×1×T


def beam_search(model: Model, source: Tensor, setting: dict, beam: int) -> Tensor:
    """All sentences get as long as the setting says: none ends before."""
    memory, batch = Memory(model, source), source.size(0)
    sentences = torch.arange(batch).unsqueeze(1)
    tokens = torch.full((batch, 1, 1), setting["begin"])  # B×beam×T, with one beam at first
    scores = torch.zeros(batch, 1)
    for _ in range(setting["length"]):
        logits = memory.next(tokens[:, :, -1].flatten())
        logits[:, setting["end"]] = -math.inf
        totals = scores.unsqueeze(2) + F.log_softmax(logits, -1).view(batch, scores.size(1), -1)
        rows = sentences * scores.size(1)
        scores, best = totals.flatten(1).topk(beam)
        parents, words = best // logits.size(1), best % logits.size(1)
        memory.select((rows + parents).flatten())
        tokens = torch.cat([tokens[sentences, parents], words.unsqueeze(2)], 2)
    return tokens[:, :, 1:]
