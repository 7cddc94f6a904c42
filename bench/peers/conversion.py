"""Our weights as a model of CTranslate2: the same Transformer, its matrices stacked as that library has them.

Words are our ids in figures, so that exactly our tokens go in and come out."""

from __future__ import annotations

from pathlib import Path

import torch
from ctranslate2 import specs
from torch import Tensor

from .transformer import sinusoids

Weights = dict[str, Tensor]


def stack(spec, weights: Weights, *names: str) -> None:
    """Products of the same input as one; a bias that ours does without is zero."""
    matrices = [weights[f"{name}.weight"] for name in names]
    biases = [weights.get(f"{name}.bias", torch.zeros(m.size(0))) for name, m in zip(names, matrices)]
    spec.weight, spec.bias = torch.cat(matrices).numpy(), torch.cat(biases).numpy()


def norm(spec, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"].numpy(), weights[f"{name}.bias"].numpy()


def layer(spec, weights: Weights, name: str) -> None:
    own, logits = spec.self_attention, f"{name}.attention.logits.V"
    norm(own.layer_norm, weights, f"{name}.attention_norm")
    stack(own.linear[0], weights, f"{logits}.query", f"{logits}.key", f"{name}.attention.value")
    stack(own.linear[1], weights, f"{name}.attention.output")
    if f"{name}.cross_norm.weight" in weights:
        norm(spec.attention.layer_norm, weights, f"{name}.cross_norm")
        stack(spec.attention.linear[0], weights, f"{name}.cross.query")
        stack(spec.attention.linear[1], weights, f"{name}.cross.key", f"{name}.cross.value")
        stack(spec.attention.linear[2], weights, f"{name}.cross.output")
    norm(spec.ffn.layer_norm, weights, f"{name}.feed_forward_norm")
    stack(spec.ffn.linear_0, weights, f"{name}.feed_forward.in")
    stack(spec.ffn.linear_1, weights, f"{name}.feed_forward.out")


def convert(setting: dict, weights: Weights, folder: Path) -> None:
    """Leaves the model in the folder, in float32: it is quantized when it is loaded."""
    layers, embedding = setting["layers"], weights["embedding.weight"].numpy()
    activation = getattr(specs.Activation, setting["activation"].upper())
    model = specs.TransformerSpec.from_config((layers, layers), setting["heads"], activation=activation)
    places = sinusoids(setting["max_length"], setting["width"]).numpy()
    for name, side in (("encoder", model.encoder), ("decoder", model.decoder)):
        side.position_encodings.encodings = places
        norm(side.layer_norm, weights, f"{name}.norm")
        for n in range(layers):
            layer(side.layer[n], weights, f"{name}.layers.{n}")
    model.encoder.embeddings[0].weight = embedding
    model.decoder.embeddings.weight = embedding
    model.decoder.projection.weight = embedding
    words = [str(n) for n in range(setting["vocabulary"])]
    model.register_source_vocabulary(words)
    model.register_target_vocabulary(words)
    model.config.layer_norm_epsilon = 1e-5
    model.config.unk_token = words[0]  # it has to have one, which nothing here ever needs
    model.config.bos_token = model.config.decoder_start_token = words[setting["begin"]]
    model.config.eos_token = words[setting["end"]]
    model.validate()
    model.optimize()  # keeps what is tied once
    folder.mkdir()
    model.save(str(folder))
