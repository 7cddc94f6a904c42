"""Reports made by rule, as the page takes them: a language model, a translation, a classification, one run.

Weights and curves follow formulas, so that a test knows what the page must say of them.
"""

import base64
import math

import numpy

STEPS = 2000


def packed(values):
    """A matrix as docs/report-data.md has it."""
    values = numpy.asarray(values, dtype=float)
    low, high = min(0.0, values.min()), max(0.0, values.max())
    power = 1 if low < 0 else 2
    shares = (values - low) / ((high - low) or 1)
    data = numpy.rint(255 * shares ** (1 / power)).astype(numpy.uint8).tobytes()
    shape = {"rows": values.shape[0], "columns": values.shape[1]}
    return shape | {"low": low, "high": high, "power": power, "data": base64.b64encode(data).decode()}


def softmax(logits):
    powers = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def logits(attention, rows, columns, layer, head, causal, seed=0):
    """Random tables for R, bands at a distance that grows with the head for the others."""
    dice = numpy.random.default_rng([seed, layer, head, rows])
    i, j = numpy.arange(rows)[:, None], numpy.arange(columns)[None, :]
    band = -((i - j - head) ** 2) / (2.0 + 3 * layer)
    noise = dice.normal(size=(rows, columns))
    made = 1.2 * noise if attention == "R" else band + (0.3 if attention == "V" else 0.8) * noise
    return numpy.where(j <= i, made, -30.0) if causal else made


def head(attention, rows, columns, layer, number, causal):
    table = logits(attention, rows, columns, layer, number, causal)
    weights = softmax(table)
    distance = numpy.abs(numpy.arange(rows)[:, None] - numpy.arange(columns)[None, :])
    made = {
        "weights": packed(weights),
        "entropy": float(-(weights * numpy.log(weights + 1e-12)).sum(axis=1).mean()),
        "distance": float((weights * distance).sum(axis=1).mean()),
    }
    if attention in ("R", "FR"):
        start = numpy.random.default_rng([7, layer, number]).normal(size=table.shape)
        made["start"] = packed(softmax(numpy.where(table < -20, -30.0, start)))
        made["table"] = packed(numpy.where(table < -20, 0.0, table))
        made["table_start"] = packed(numpy.where(table < -20, 0.0, start))
    return made


def looks(attention, stack, layers, heads, tokens=None, across=None, length=24):
    """One entry a layer: what the page shows under 'Attention weights'."""
    is_global, causal = attention in ("R", "FR"), stack == "decoder"
    rows = length if is_global else len(tokens)
    columns = rows if across is None else len(across)
    edges = [round(0.05 * i, 2) for i in range(21)]
    entries = []
    for layer in range(layers):
        weights = softmax(logits(attention, rows, columns, layer, 0, causal))
        entry = {
            "stack": stack,
            "layer": layer,
            "global": is_global,
            "heads": [head(attention, rows, columns, layer, m, causal) for m in range(heads)],
            "histogram": {
                "edges": edges,
                "counts": numpy.histogram(weights, edges)[0].tolist(),
                "start": numpy.histogram(numpy.full_like(weights, 1 / columns), edges)[0].tolist(),
            },
        }
        if not is_global:
            entry |= {"rows": tokens, "columns": across or tokens, "text": " ".join(tokens)}
        entries.append(entry)
    return entries


def curves(rank, key, first, last):
    """Loss that falls as a power of the step, and a score that goes from `first` to `last`."""
    steps = range(50, STEPS + 1, 50)
    loss = {step: 1.5 + 0.05 * rank + 60 / (step + 12) for step in steps}
    train = [
        {"step": step, "seconds": step * (0.1 + 0.01 * rank), "loss": loss[step] + 0.08 * math.sin(step)}
        for step in steps
    ]
    dev = [
        {"step": step, "loss": loss[step] + 0.1, key: last + (first - last) * math.exp(-step / 500)}
        for step in steps
        if step % 200 == 0
    ]
    return {"train": train, "dev": dev}


def run(rank, attention, key, first, last, interval, outputs, attentions):
    value = last + (first - last) * math.exp(-4)
    scores = {
        key: {"value": value, "low": value - interval, "high": value + interval},
        "loss": {"value": 1.6 + 0.05 * rank + 60 / (STEPS + 12)},
    }
    if rank:
        scores[key]["p"] = 0.001 if rank == 2 else 0.03 if rank == 1 else 0.4
    made = {
        "name": attention,
        "parameters": {"total": 7_000_000 + 300_000 * rank, "synthesis": 260_000 + 90_000 * rank},
        "scores": scores,
        "train_tokens_per_second": 8000 - 450 * rank,
        "decode_tokens_per_second": 1500 + 220 * rank,
        "peak_memory_bytes": (700 + 30 * rank) * 2**20,
        "seconds": STEPS * (0.1 + 0.01 * rank),
        "steps": STEPS,
        "curves": curves(rank, key, first, last),
        "attention": attentions,
        "outputs": outputs,
    }
    if "+" in attention:
        members = attention.split("+")
        made["mixture"] = [
            {"step": step, "layer": layer, "members": members, "weights": [share, 1 - share]}
            for step in range(0, STEPS + 1, 200)
            for layer in range(2)
            for share in [0.5 - 0.1 * (layer + 1) * step / STEPS]
        ]
    return made


def settings(attentions):
    return {
        "shared": {"data.vocabulary": 4000, "model.heads": 4, "model.width": 128, "train.steps": STEPS},
        "differ": {"model.attention": list(attentions)},
    }


def language_model(heads=4, layers=2):
    attentions = ["V", "D", "R", "FR", "R+V"]
    tokens = "The king hath come to see his son , and all the court is here .".split()
    runs = []
    for rank, attention in enumerate(attentions):
        outputs = [
            f"ROMEO: I do {'not ' * rank}know thee.\nJULIET: So be it.",
            f"And so {attention} went on.",
        ]
        looked = looks(attention, "decoder", layers, heads, tokens)
        runs.append(run(rank, attention, "perplexity", 60, 8 + rank % 3, 0.3, outputs, looked))
    runs[0]["scores"]["perplexity"]["paper"] = 38.21
    return {
        "title": "Five attention variants on Shakespeare",
        "task": "language-model",
        "data": "tiny-shakespeare, 2,000 steps, seed 1",
        "created": "2026-11-16",
        "command": "synth compare recipes/language-model/shakespeare.toml --attention V,D,R,FR,R+V --run all",
        "scores": [
            {"key": "perplexity", "name": "Perplexity", "higher_is_better": False},
            {"key": "loss", "name": "Loss", "higher_is_better": False, "decimals": 3},
        ],
        "runs": runs,
        "samples": [{"source": "ROMEO:"}, {"source": "And so"}],
        "settings": settings(attentions),
    }


def translation():
    attentions = ["V", "R", "R+V"]
    source = "A man in a blue shirt is standing on a ladder .".split()
    target = "Ein Mann in einem blauen Hemd steht auf einer Leiter .".split()
    runs = []
    for rank, attention in enumerate(attentions):
        looked = looks(attention, "encoder", 2, 4, source) + looks(attention, "decoder", 2, 4, target)
        looked += looks("V", "cross", 2, 4, target, source)
        outputs = [" ".join(target[: len(target) - rank]), "Zwei <b>Hunde</b> spielen im Schnee ."]
        runs.append(run(rank, attention, "bleu", 2, 36 + rank, 0.8, outputs, looked))
        runs[-1]["scores"]["bleu"]["paper"] = [27.67, 27.27, 28.47][rank]
    return {
        "title": "Translation, English to German",
        "task": "translation",
        "command": "synth compare recipes/translation/multi30k.toml --attention V,R,R+V --run runs/m30k",
        "scores": [
            {"key": "bleu", "name": "BLEU", "higher_is_better": True},
            {"key": "loss", "name": "Loss", "higher_is_better": False, "decimals": 3},
        ],
        "runs": runs,
        "samples": [
            {"source": " ".join(source), "reference": " ".join(target)},
            {"source": "Two dogs play in the snow .", "reference": "Zwei Hunde spielen im Schnee ."},
        ],
        "settings": settings(attentions),
    }


def classification():
    attentions = ["V", "FR", "D"]
    tokens = "Shares rose after the company said it sold more phones .".split()
    labels = ["Business", "Business", "World"]
    return {
        "title": "Topics of news",
        "task": "classification",
        "command": "synth compare recipes/small/ag-news.toml --attention V,FR,D --run runs/news",
        "scores": [{"key": "accuracy", "name": "Accuracy", "higher_is_better": True, "decimals": 1}],
        "runs": [
            run(
                rank,
                attention,
                "accuracy",
                25,
                89 - rank,
                0.9,
                [labels[rank]],
                looks(attention, "encoder", 2, 2, tokens),
            )
            for rank, attention in enumerate(attentions)
        ],
        "samples": [{"source": " ".join(tokens), "reference": "Business"}],
        "settings": settings(attentions),
    }


def single():
    whole = language_model()
    whole["title"] = "One run"
    whole["runs"] = whole["runs"][4:]
    whole["settings"] = {"shared": {"model.attention": "R+V", "train.steps": STEPS}, "differ": {}}
    return whole
