"""A synthesized attention inside an ordinary PyTorch model: a small classifier of sequences, trained briefly.

    ./run python examples/layer.py

The task: does the first token occur again later? Random tables alone cannot see it; the mixture R+V can.
"""

import torch

import synthesizer


class Block(torch.nn.Module):
    """A Transformer block. Only the line with Attention differs from any other."""

    def __init__(self, attention: str, width: int, length: int):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.attention = synthesizer.Attention(attention, width=width, heads=4, max_length=length)
        self.feed_forward = torch.nn.Sequential(
            torch.nn.LayerNorm(width),
            torch.nn.Linear(width, 2 * width),
            torch.nn.GELU(),
            torch.nn.Linear(2 * width, width),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x))
        return x + self.feed_forward(x)


class Model(torch.nn.Module):
    def __init__(self, attention: str, words: int = 12, width: int = 32, length: int = 10):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Embedding(length, width)
        self.blocks = torch.nn.Sequential(Block(attention, width, length), Block(attention, width, length))
        self.answer = torch.nn.Linear(width, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places.weight[: tokens.size(1)]
        return self.answer(self.blocks(x)[:, 0])


def batch(size: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = torch.randint(12, (size, 10))
    return tokens, (tokens[:, 1:] == tokens[:, :1]).any(1).long()


def main() -> None:
    torch.manual_seed(1)
    model = Model("R+V")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    first = last = 0.0
    for _ in range(300):
        tokens, wanted = batch()
        loss = torch.nn.functional.cross_entropy(model(tokens), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        last = loss.item()
        first = first or last
    tokens, wanted = batch(1000)
    accuracy = (model(tokens).argmax(1) == wanted).float().mean().item()
    print(f"loss {first:.3f} at first, {last:.3f} after 300 steps; accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
