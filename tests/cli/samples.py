"""Small samples of the formats that the paper's data come in, made by rule: a folder of each as the recipes
of recipes/paper expect it."""

import gzip
import json
import random

WORDS = "red blue green house tree river stone bird cloud seven eight nine walks runs sleeps".split()
COLOURS = ["red", "blue", "green"]


def sentence(rng, low=4, high=9):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high)))


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(row + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def table(header, rows):
    return ["\t".join(map(str, header)), *("\t".join(map(str, row)) for row in rows)]


# GLUE, in the layouts of its own archive. Where a label follows from the texts, the rule is in the texts.


def glue_rows(task, rng, n):
    """Row n; its label is the parity of n, so that every file has all classes."""
    a, b, yes = sentence(rng), sentence(rng), n % 2
    if task == "CoLA":
        return ["x", yes, "" if yes else "*", a + " ." if yes else ". " + a]
    if task == "SST-2":
        return [("lovely " if yes else "awful ") + a, yes]
    if task == "MRPC":
        return [yes, n, n + 1, a, a if yes else b]
    if task == "STS-B":
        return [n, "main", "x", 2012, n, "none", "none", a, a if yes else b, 5.0 if yes else 0.6]
    if task == "QQP":
        return [n, n, n + 1, a, a if yes else b, yes]
    if task == "MNLI":
        label = ["entailment", "neutral", "contradiction"][n % 3]
        return [n, a, {"entailment": a, "neutral": b, "contradiction": "not " + a}[label], label, label]
    entailed = "entailment" if yes else "not_entailment"
    if task == "WNLI":
        return [n, a, a if yes else b, yes]
    return [n, a, a if yes else b, entailed]  # QNLI, RTE


GLUE_HEADERS = {
    "CoLA": None,
    "SST-2": ["sentence", "label"],
    "MRPC": ["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"],
    "STS-B": "index genre filename year old_index source1 source2 sentence1 sentence2 score".split(),
    "QQP": ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"],
    "MNLI": ["index", "sentence1", "sentence2", "label1", "gold_label"],
    "QNLI": ["index", "question", "sentence", "label"],
    "RTE": ["index", "sentence1", "sentence2", "label"],
    "WNLI": ["index", "sentence1", "sentence2", "label"],
}


def glue(folder, train=60, dev=12):
    rng = random.Random(1)
    for task, header in GLUE_HEADERS.items():
        devs = ["dev_matched", "dev_mismatched"] if task == "MNLI" else ["dev"]
        for split, count in [("train", train), *((name, dev) for name in devs)]:
            rows = [glue_rows(task, rng, n) for n in range(count)]
            lines = table(header, rows) if header else table(rows[0], rows[1:])
            write(folder / task / f"{split}.tsv", lines)


# SuperGLUE.


def superglue_row(task, rng, n):
    a, b, yes = sentence(rng), sentence(rng), n % 2 == 1
    if task == "BoolQ":
        return {"question": "is it red", "passage": ("red " if yes else "") + a, "idx": n, "label": yes}
    if task == "CB":
        label = ["entailment", "neutral", "contradiction"][n % 3]
        return {"premise": a, "hypothesis": b, "label": label, "idx": n}
    if task == "COPA":
        return {"premise": a, "choice1": b, "choice2": sentence(rng), "question": "cause",
                "label": n % 2, "idx": n}  # fmt: skip
    if task == "MultiRC":
        answers = [{"text": colour, "idx": k, "label": int(k == n % 3)} for k, colour in enumerate(COLOURS)]
        questions = [{"question": "which colour ?", "answers": answers, "idx": 0}]
        return {"idx": n, "passage": {"text": f"<b>Sent 1: </b>{a}<br>", "questions": questions}}
    if task == "ReCoRD":
        entities = [{"start": 0, "end": 2}, {"start": 8, "end": 9}]
        answers = [{"start": 0, "end": 2, "text": "Ann"}]
        passage = {"text": f"Ann met Bo {a}\n@highlight\n{b}", "entities": entities}
        queries = [{"query": f"@placeholder {b}", "idx": 0, "answers": answers}]
        return {"source": "CNN", "idx": n, "passage": passage, "qas": queries}
    if task == "RTE":
        label = "entailment" if yes else "not_entailment"
        return {"premise": a, "hypothesis": a if yes else b, "label": label, "idx": n}
    if task == "WiC":
        return {"word": "bird", "sentence1": a, "sentence2": b, "idx": n, "label": yes}
    target = {"span1_text": "Mark", "span1_index": 0, "span2_text": "he", "span2_index": 3}
    return {"text": f"Mark saw Pete he {a}", "target": target, "idx": n, "label": yes}  # WSC


SUPERGLUE = ["BoolQ", "CB", "COPA", "MultiRC", "ReCoRD", "RTE", "WiC", "WSC"]


def superglue(folder, train=60, dev=12):
    rng = random.Random(2)
    for task in SUPERGLUE:
        for split, count in [("train", train), ("val", dev)]:
            rows = [json.dumps(superglue_row(task, rng, n)) for n in range(count)]
            write(folder / task / f"{split}.jsonl", rows)


# SQuAD: the colour that the passage names, in the official nested layout (one line).


def squad(folder, train=60, dev=12):
    rng = random.Random(3)
    for split, count in [("train", train), ("dev", dev)]:
        paragraphs = []
        for n in range(count):
            colour = rng.choice(COLOURS)
            context = f"The {rng.choice(['bird', 'stone', 'tree'])} is, as we know, {colour}."
            answers = [{"text": colour, "answer_start": context.index(colour)}] * (3 if split == "dev" else 1)
            question = {"question": "What colour is it?", "id": f"{split}{n}", "answers": answers}
            paragraphs.append({"context": context, "qas": [question]})
        articles = [{"title": "Colours", "paragraphs": paragraphs}]
        write(folder / f"{split}-v1.1.json", [json.dumps({"data": articles, "version": "1.1"})])


# Plain text with a rule, so that what is missing can be told.


def plain(folder, train=300, dev=60, names=("train.txt.gz", "dev.txt.gz")):
    rng = random.Random(4)
    cycle = "one two three four five six seven eight nine ten".split()

    def line():
        start = rng.randrange(10)
        return " ".join(cycle[(start + n) % 10] for n in range(rng.randint(8, 16)))

    for name, count in zip(names, [train, dev]):
        write(folder / name, [line() for _ in range(count)])


def translation(folder, language, dev, test):
    rng = random.Random(5)
    for stem, count in [("train", 200), (dev, 20), (test, 20)]:
        source = [sentence(rng, 4, 12) for _ in range(count)]
        suffix = ".gz" if stem == "train" else ""
        write(folder / f"{stem}.en{suffix}", source)
        write(folder / f"{stem}.{language}{suffix}", [" ".join(reversed(line.split())) for line in source])


def summaries(folder):
    rng = random.Random(6)
    for split, count in [("train", 120), ("dev", 12), ("test", 12)]:
        rows = [(sentence(rng, 20, 60), f"{sentence(rng)} . <n> {sentence(rng)} .") for _ in range(count)]
        write(folder / f"{split}.tsv.gz", table(["source", "target"], rows))


def dialogues(folder):
    rng = random.Random(7)
    for split, count in [("train", 120), ("dev", 12)]:
        rows = []
        for n in range(count):
            animal, colour = rng.choice(["dog", "cat"]), rng.choice(COLOURS)
            history = f"{sentence(rng, 2, 4)} <t> my house is {colour}"
            rows.append(
                (n, 0, f"i live here . | i have a {animal} .", history, f"my {animal} likes {colour}")
            )
        write(folder / f"{split}.tsv.gz", table(["dialogue", "turn", "persona", "history", "response"], rows))


def labelled(folder, classes, names=("train.tsv.gz", "dev.tsv.gz"), counts=(200, 40)):
    """Label n of `classes` where the text begins with colour n."""
    rng = random.Random(8)
    for name, count in zip(names, counts):
        rows = [(label, f"{WORDS[label % len(WORDS)]} {sentence(rng, 5, 40)}")
                for label in (n % classes for n in range(count))]  # fmt: skip
        write(folder / name, ["\t".join(map(str, row)) for row in rows])
