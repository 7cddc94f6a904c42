"""synth serve: what it answers, and that answers are those of the command line for the text alone."""

import concurrent.futures
import json
import random
import socket
import time
import urllib.error
import urllib.parse
import urllib.request

import libretranslatepy
import openai
import pytest
from serve_fixtures import WORDS, recipe_of_tables
from server import events

SOURCES = [
    "seven",
    "four hundred twenty-three",
    "nine thousand nine hundred ninety-nine",
    "twelve",
    "one thousand two hundred thirty-four",
    "eighty-eight",
    "five thousand six",
    "three hundred",
    "",
    "two thousand two hundred twenty-two",
]


def translations(synth, run, lines, *options):
    """(score, text) of each line, translated in a process of its own call with nothing beside it."""
    found = []
    for line in lines:
        out = synth("translate", run, "--scores", *options, input=line + "\n").stdout
        score, _, text = out.rstrip("\n").partition("\t")
        found.append((float(score), text))
    return found


def same(result, expected):
    return result["text"] == expected[1] and result["score"] == pytest.approx(expected[0], abs=6e-5)


@pytest.fixture(scope="module")
def alone(synth, numbers_run, int8_run):
    runs = {"numbers": numbers_run, "numbers-int8": int8_run}
    return {
        (name, beam): translations(synth, run, SOURCES, "--beam", beam)
        for name, run in runs.items()
        for beam in (1, 4, 9)
    }


@pytest.mark.parametrize("model", ["numbers", "numbers-int8"])
@pytest.mark.parametrize("beam", [1, 4, 9])
def test_translations_of_many_requests_at_once_are_those_of_each_line_alone(
    shared_server, alone, model, beam
):
    def one(n):
        body = {"model": model, "text": SOURCES[n % len(SOURCES)], "beam": beam}
        (result,) = shared_server.good("/v1/translate", body)["results"]
        return n % len(SOURCES), result

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for n, result in pool.map(one, range(40)):
            assert same(result, alone[model, beam][n]), (SOURCES[n], result, alone[model, beam][n])


def test_mixed_beams_of_two_models_at_the_same_time_are_those_of_each_line_alone(shared_server, alone):
    cases = [(model, beam, n) for n in range(len(SOURCES)) for model, beam in alone]

    def one(case):
        model, beam, n = case
        body = {"model": model, "text": SOURCES[n], "beam": beam}
        return shared_server.good("/v1/translate", body)["results"][0]

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for (model, beam, n), result in zip(cases, pool.map(one, cases)):
            assert same(result, alone[model, beam][n]), (model, beam, SOURCES[n], result)


@pytest.mark.parametrize("model", ["numbers", "numbers-int8"])
def test_sentences_encoded_before_there_is_place_for_them_are_those_of_each_line_alone(
    serve, numbers_run, int8_run, alone, model
):
    """Lists of texts that wait behind four others are encoded together, ahead of their turn."""
    server = serve(numbers_run, int8_run, "--batch", 4, "--queue", 1000)
    body = {"model": model, "text": SOURCES, "beam": 1}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: server.good("/v1/translate", body)["results"], range(16)))
    for results in answers:
        for result, expected in zip(results, alone[model, 1], strict=True):
            assert same(result, expected), (result, expected)
    assert server.metric("synth_active_texts") == 0


def test_waiting_sentences_of_a_client_that_goes_away_are_given_up(serve, numbers_run):
    """Also those that are encoded already: their slots serve others."""
    server = serve(numbers_run, "--batch", 4, "--lines", 4000, "--queue", 4000, "--body", 10_000_000)
    for _ in range(3):
        connection = server.connect()
        connection.request("POST", "/v1/translate", json.dumps({"text": SOURCES[:8] * 400, "beam": 1}))
        server.wait_for(lambda: server.metric("synth_active_texts") == 5)
        connection.close()
        server.wait_for(lambda: server.metric("synth_active_texts") == 0)
    assert len(server.good("/v1/translate", {"text": SOURCES, "beam": 1})["results"]) == len(SOURCES)


def test_a_list_keeps_its_order_and_an_empty_text_stays_empty(shared_server, alone):
    answer = shared_server.good("/v1/translate", {"text": SOURCES, "beam": 1, "model": "numbers"})
    assert answer["model"] == "numbers" and len(answer["results"]) == len(SOURCES)
    for result, expected in zip(answer["results"], alone["numbers", 1]):
        assert result["text"] == expected[1]
    assert answer["results"][SOURCES.index("")] == {"text": "", "score": 0}


def test_scores_have_the_same_bits_whatever_is_translated_beside(shared_server):
    body = {"model": "numbers", "text": SOURCES[1], "beam": 1}
    (before,) = shared_server.good("/v1/translate", body)["results"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        others = [
            pool.submit(
                shared_server.good, "/v1/translate", {"model": "numbers", "text": SOURCES[n % 8], "beam": 1}
            )
            for n in range(24)
        ]
        found = [shared_server.good("/v1/translate", body)["results"][0] for _ in range(6)]
        for other in others:
            other.result()
    assert all(result == before for result in found)


def test_nbest(shared_server, synth, numbers_run):
    body = {"model": "numbers", "text": "forty-two", "beam": 3, "nbest": 3}
    (result,) = shared_server.good("/v1/translate", body)["results"]
    out = synth("translate", numbers_run, "--beam", 3, "--nbest", 3, input="forty-two\n").stdout
    assert [one["text"] for one in result["nbest"]] == [line.split(" ||| ")[1] for line in out.splitlines()]
    assert result["text"] == result["nbest"][0]["text"]


def test_a_greedy_translation_is_streamed(shared_server, alone):
    body = {"model": "numbers", "text": SOURCES[2], "beam": 1, "stream": True}
    answer = shared_server.post("/v1/translate", body)
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    *pieces, last = events(answer.body)
    assert "".join(piece["text"] for piece in pieces) == alone["numbers", 1][2][1]
    assert len(pieces) > 1 and last["model"] == "numbers"
    body["beam"] = 4
    assert shared_server.post("/v1/translate", body).status == 400


@pytest.fixture(scope="module")
def dialogue_run(train, tmp_path_factory):
    """A dialogue model that has learnt next to nothing, and is quick."""
    rng, folder = random.Random(2), tmp_path_factory.mktemp("dialogue")
    for split, count in [("train", 200), ("dev", 20)]:
        rows = ["persona\thistory\tresponse\n"]
        for _ in range(count):
            turns = [" ".join(rng.choices(WORDS, k=rng.randint(2, 4))) for _ in range(4)]
            rows.append(f"{turns[0]} .\t{turns[1]} <t> {turns[2]}\t{turns[3]}\n")
        (folder / f"{split}.tsv").write_text("".join(rows))
    columns = 'columns = ["persona", "history", "response"]'
    recipe = recipe_of_tables(folder, "dialogue", columns, "history_turns = 2")
    return train(recipe, tmp_path_factory.mktemp("runs") / "talk")


def test_replies_of_a_dialogue_model_are_those_of_the_command_line(serve, synth, dialogue_run):
    server = serve(dialogue_run)
    (model,) = server.get("/v1/models").json()["data"]
    assert (model["task"], model["use"]) == ("dialogue", "translate")
    lines = ["i have a bird .\tred tree <t> blue house", "green stone <t> cloud runs <t> bird", "tree walks"]
    for beam in (1, 3):
        results = server.good("/v1/translate", {"text": lines, "beam": beam})["results"]
        for result, expected in zip(results, translations(synth, dialogue_run, lines, "--beam", beam)):
            assert same(result, expected), (result, expected)


def generated(synth, run, prompt, *options):
    return synth("generate", run, "--prompt", prompt, *options).stdout[len(prompt) : -1]


@pytest.mark.parametrize("stream", [False, True])
def test_generated_texts_are_those_of_the_command_line(shared_server, synth, language_run, stream):
    # More tokens than the model has positions: windows slide at different times.
    cases = [("ROMEO:", 40, 1), ("To be", 25, 7), ("", 33, 3), ("a" * 20, 30, 5)]

    def one(case):
        prompt, tokens, seed = case
        body = {"prompt": prompt, "tokens": tokens, "seed": seed, "temperature": 0.8, "stream": stream}
        if not stream:
            return shared_server.good("/v1/generate", body)
        *pieces, last = events(shared_server.post("/v1/generate", body).body)
        return {"text": "".join(piece["text"] for piece in pieces), **last}

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for (prompt, tokens, seed), answer in zip(cases * 3, pool.map(one, cases * 3)):
            options = ["--tokens", tokens, "--seed", seed, "--temperature", 0.8]
            assert answer["text"] == generated(synth, language_run, prompt, *options)
            assert answer["tokens"] == tokens and answer["model"] == "language"


def test_classes_are_those_of_the_command_line(shared_server, synth, class_run):
    texts = [
        "red tree",
        "blue bird runs",
        "green stone cloud walks red",
        "tree",
        "blue house bird",
        "red bird",
    ]
    texts.append("red tree " * 40)  # cut, as the command line cuts it
    answer = shared_server.good("/v1/classify", {"text": texts, "too_long": "truncate"})
    for text, result in zip(texts, answer["results"], strict=True):
        expected = json.loads(synth("classify", class_run, "--json", input=text + "\n").stdout)
        assert result["label"] == expected["label"]
        assert result["probabilities"] == pytest.approx(expected["probabilities"], rel=1e-12)


def test_scores_are_those_of_the_model(shared_server, synth, language_run):
    one, two = shared_server.good("/v1/score", {"model": "language", "text": ["To be", "qqqq"]})["results"]
    assert one["tokens"] == 6 and two["tokens"] == 5  # the end of the line is predicted, too
    assert two["log_probability"] < 0 and one["log_probability"] < 0
    body = {"model": "numbers", "text": "seven", "target": "sieben"}
    good = shared_server.good("/v1/score", body)["results"][0]
    body["target"] = "achtundachtzig"
    bad = shared_server.good("/v1/score", body)["results"][0]
    assert good["log_probability"] > bad["log_probability"]
    message, field = shared_server.post("/v1/score", {"model": "numbers", "text": "seven"}).error()
    assert "target" in message and field == "target"


def test_attention_of_every_side(shared_server):
    for side, columns in [("encoder", None), ("decoder", None), ("cross", "source_tokens")]:
        body = {"model": "numbers", "text": "seventy-one", "side": side, "layer": 1, "head": 2}
        answer = shared_server.good("/v1/attention", body)
        assert len(answer["weights"]) == len(answer["tokens"])
        assert len(answer["weights"][0]) == len(answer[columns or "tokens"])
        for row in answer["weights"]:
            assert sum(row) == pytest.approx(1, abs=1e-4)
        assert answer["entropy"] >= 0
    text = shared_server.good("/v1/attention", {"model": "language", "text": "To be"})
    assert text["side"] == "decoder" and text["weights"][0][1:] == [0] * (len(text["tokens"]) - 1)
    for wrong, field in [({"layer": 9}, "layer"), ({"head": 99}, "head"), ({"side": "left"}, "side")]:
        answer = shared_server.post("/v1/attention", {"model": "numbers", "text": "one", **wrong})
        assert answer.status == 400 and answer.error()[1] == field


def test_models_health_ready_and_metrics(shared_server):
    models = shared_server.get("/v1/models").json()
    assert models["object"] == "list"
    assert [m["id"] for m in models["data"]] == ["numbers", "numbers-int8", "language", "colours"]
    assert [m["use"] for m in models["data"]] == ["translate", "translate", "generate", "classify"]
    assert [m["precision"] for m in models["data"]] == ["float32", "int8", "float32", "float32"]
    assert models["limits"] == {"tokens": 2048, "lines": 64, "body": 1048576}
    assert shared_server.get("/v1/models/language").json()["id"] == "language"
    assert shared_server.get("/v1/models/none").status == 404
    assert shared_server.get("/health").status == shared_server.get("/ready").status == 200
    shared_server.good("/v1/translate", {"text": "six", "beam": 1})
    text = shared_server.get("/metrics").body.decode()
    for name in ["synth_requests_total", "synth_queue_length", "synth_batch_rows_bucket",
                 "synth_output_tokens_total", "synth_request_seconds_bucket"]:  # fmt: skip
        assert f"\n{name}" in text
    assert 'synth_requests_total{path="/v1/translate",status="200"}' in text
    for line in text.splitlines():
        assert line.startswith("# ") or float(line.rsplit(" ", 1)[1]) >= 0


MISTAKES = [
    ("/v1/translate", "{", 400, ["not valid JSON"], None),
    ("/v1/translate", "", 400, ["the body is empty: send a JSON object"], None),
    ("/v1/translate", "null", 400, ["the body is null"], None),
    ("/v1/translate", "[1]", 400, ["a list", "JSON object"], None),
    ("/v1/translate", {"txt": "one"}, 400, ["'text' is missing"], "text"),
    ("/v1/translate", {"text": "one", "bean": 4}, 400, ["'bean'", "did you mean 'beam'"], "bean"),
    ("/v1/translate", {"text": 7}, 400, ["whole number", "string"], "text"),
    ("/v1/translate", {"text": ["a", 7]}, 400, ["item 1 is a whole number", "list of strings"], "text"),
    ("/v1/translate", {"text": ["a", None]}, 400, ["item 1 is null"], "text"),
    ("/v1/translate", {"text": []}, 400, ["empty list"], "text"),
    ("/v1/translate", {"text": "one", "beam": "4"}, 400, ["'beam'", "whole number"], "beam"),
    ("/v1/translate", {"text": "one", "beam": 4.5}, 400, ["'beam'"], "beam"),
    ("/v1/translate", {"text": "one", "beam": 0}, 400, ["from 1 to"], "beam"),
    ("/v1/translate", {"text": "one", "beam": 10**30}, 400, ["'beam'"], "beam"),
    ("/v1/translate", {"text": "one", "beam": 2, "nbest": 3}, 400, ["'nbest'", "raise 'beam'"], "nbest"),
    ("/v1/translate", {"text": "a\nb"}, 400, ["the text has a line break"], "text"),
    ("/v1/translate", {"text": ["a", "a\nb"]}, 400, ["text 1 has a line break"], "text"),
    ("/v1/score", {"text": "a\nb", "target": "c"}, 400, ["the text has a line break"], "text"),
    ("/v1/score", {"text": "a", "target": "b\nc"}, 400, ["the target has a line break"], "target"),
    ("/v1/attention", {"text": "a\nb"}, 400, ["the text has a line break"], "text"),
    ("/v1/translate", {"text": "one", "model": "nombers"}, 404, ["did you mean 'numbers'"], "model"),
    (
        "/v1/translate",
        {"text": "one", "model": "language"},
        400,
        ["'language' cannot translate, its task is language-model: use /v1/generate"],
        "model",
    ),
    ("/v1/translate", {"text": "one " * 400}, 413, ["the text is longer", "tokens", "truncate"], "text"),
    ("/v1/translate", {"text": ["one", "one " * 400]}, 413, ["text 1 is longer"], "text"),
    ("/v1/translate", {"text": ["one"] * 65}, 413, ["64", "--lines"], "text"),
    ("/v1/translate", '{"text": "one", "text": "two"}', 400, ["twice"], "text"),
    ("/v1/translate", '{"text": ' + "[" * 5000 + "]" * 5000 + "}", 400, ["levels"], None),
    ("/v1/translate", b'{"text": "\xff\xfe"}', 400, ["not valid JSON"], None),
    ("/v1/translate", '{"text": "one", "length_penalty": 1e999}', 400, ["not valid JSON"], None),
    ("/v1/generate", {"prompt": "a", "temperature": -1}, 400, ["'temperature'"], "temperature"),
    ("/v1/generate", {"prompt": "a", "top_p": 1.5}, 400, ["'top_p'"], "top_p"),
    ("/v1/generate", {"prompt": "a", "tokens": 10**9}, 400, ["'tokens'"], "tokens"),
    ("/v1/generate", {"prompt": "a" * 5000}, 413, ["the prompt has 5000 tokens", "--tokens"], "prompt"),
    ("/v1/generate", {"text": "a"}, 400, ["the fields are model, prompt, tokens, temperature"], "text"),
    ("/v1/generate", {"prompt": "a", "stream": "yes"}, 400, ["true or false"], "stream"),
    ("/v1/classify", {}, 400, ["'text' is missing"], "text"),
    (
        "/v1/classify",
        {"text": "red " * 40},
        413,
        ["the text has 40 tokens", "takes 30", '"truncate"'],
        "text",
    ),
    ("/v1/classify", {"text": ["red", "red " * 40]}, 413, ["text 1: ", "shorten"], "text"),
    ("/v1/classify", {"text": "red", "too_long": "cut"}, 400, ["'too_long'", '"truncate"'], "too_long"),
    ("/v1/score", {"text": "one " * 400, "target": "eins"}, 413, ["the source has", "shorten"], "text"),
    ("/v1/score", {"text": "one", "target": "eins " * 400}, 413, ["the target has", "shorten"], "target"),
    ("/v1/score", {"text": ["a", "a" * 99], "model": "language"}, 413, ["text 1: ", "shorten"], "text"),
    ("/v1/score", {"text": "red " * 40, "target": "warm", "model": "colours"}, 413, ["the text has"], "text"),
    ("/v1/score", {"text": "red", "target": "wram", "model": "colours"}, 400, ["mean 'warm'"], "target"),
    (
        "/v1/score",
        {"text": "one", "model": "numbers"},
        400,
        ["'numbers'", "its task is translation"],
        "target",
    ),
    ("/v1/attention", {"text": "one " * 400}, 413, ["the source has", "shorten"], "text"),
    ("/v1/attention", {"text": "one", "target": "eins " * 400}, 413, ["the target has", "shorten"], "target"),
    ("/v1/attention", {"text": "a" * 99, "model": "language"}, 413, ["the text has", "shorten"], "text"),
    ("/v1/attention", {"text": "red " * 40, "model": "colours"}, 413, ["the text has", "shorten"], "text"),
    (
        "/v1/attention",
        {"text": "a", "side": "encoder", "model": "language"},
        400,
        ["'side' is 'encoder'", "'language' has attention weights of decoder"],
        "side",
    ),
    (
        "/v1/attention",
        {"text": "a", "side": "left", "model": "numbers"},
        400,
        ["of encoder, decoder, cross"],
        "side",
    ),
    ("/v1/attention", {"text": " "}, 400, ["'text' is empty"], "text"),
    ("/v1/attention", {"text": "one", "target": " "}, 400, ["'target' is empty"], "target"),
    ("/v1/attention", {"text": "a", "target": "b", "model": "language"}, 400, ["'target'"], "target"),
    ("/v1/completions", {"prompt": "a"}, 400, ["'model' is missing"], "model"),
    ("/v1/completions", {"model": "language", "logprobs": 3}, 400, ["'logprobs'"], "logprobs"),
    ("/v1/completions", {"model": "language", "prompt": ["a", "a" * 5000]}, 413, ["prompt 1 has"], "prompt"),
    ("/translate", {"q": "one", "source": "en", "target": "fr"}, 400, ["/languages"], "target"),
    (
        "/translate",
        {"q": "one " * 400, "source": "en", "target": "de"},
        413,
        ["the text is longer", "shorten it"],
        "q",
    ),
    (
        "/translate",
        {"q": "one\n" + "one " * 400, "source": "en", "target": "de"},
        413,
        ["line 1 is longer"],
        "q",
    ),
    (
        "/translate",
        {"q": "one", "source": "en", "target": "de", "model": "language"},
        400,
        ["its task is language-model"],
        "model",
    ),
    ("/v1/models/reload", {"model": "none"}, 404, ["no model 'none'"], "model"),
    ("/v1/transalte", {}, 404, ["did you mean '/v1/translate'"], None),
    ("/foo", {}, 404, ["the paths are /, /health,", "/v1/translate"], None),
]


def test_without_a_name_the_first_model_that_can_answer_is_used(
    serve, train, language_recipe, class_run, language_run, small_run, tmp_path
):
    convolution = train(language_recipe, tmp_path / "convolution", "model.attention=dynamic-conv")
    server = serve(class_run, convolution, language_run, small_run)
    for path, body, model in [
        ("/v1/score", {"text": "red"}, "convolution"),
        ("/v1/score", {"text": "red", "target": "warm"}, "colours"),
        ("/v1/score", {"text": ["red", "one"], "target": ["warm", "eins"]}, "small"),
        ("/v1/attention", {"text": "red"}, "colours"),
        ("/v1/attention", {"text": "red", "side": "decoder"}, "language"),
        ("/v1/attention", {"text": "one", "side": "cross"}, "small"),
        ("/v1/attention", {"text": "one", "target": "eins"}, "small"),
    ]:
        assert server.good(path, body)["model"] == model, (path, body)
    answer = server.post("/v1/attention", {"text": "red", "model": "convolution", "all": True})
    message, field = answer.error()
    assert answer.status == 400 and "'convolution' has no attention weights" in message and field == "model"


def test_line_breaks_are_text_where_a_model_does_not_read_lines(shared_server):
    two = {"text": "To be\nor", "model": "language"}
    assert shared_server.good("/v1/score", two)["results"][0]["tokens"] == 9
    assert "↵" in shared_server.good("/v1/attention", two)["tokens"]
    assert len(shared_server.good("/v1/classify", {"text": "red\ntree"})["results"]) == 1


@pytest.mark.parametrize("path, body, status, words, field", MISTAKES)
def test_mistakes_say_what_to_do(shared_server, path, body, status, words, field):
    answer = shared_server.post(path, body)
    message, param = answer.error()
    assert answer.status == status, message
    for word in words:
        assert word in message
    assert "--text" not in message and "--target" not in message  # options of the command line
    assert param == field


def test_folders_of_runs_and_what_lies_beside_them(serve, small_run, tmp_path):
    for name in ["a/V", "a/R", "b/V"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(small_run)
    (tmp_path / "table.json").write_text("{}")
    (tmp_path / "text").mkdir()
    server = serve(*sorted(tmp_path.iterdir()))
    assert [m["id"] for m in server.get("/v1/models").json()["data"]] == ["R", "a/V", "b/V"]
    assert server.get("/v1/models/a/V").json()["id"] == "a/V"
    assert server.good("/v1/translate", {"model": "b/V", "text": "one"})["model"] == "b/V"
    for name in ["table.json", "text"]:
        assert f"synth: {tmp_path / name} holds no run: left out" in server.lines


def test_other_methods_are_refused(shared_server):
    assert shared_server.get("/v1/translate").status == 405
    assert shared_server.ask("DELETE", "/v1/models").status == 405
    assert shared_server.ask("HEAD", "/health").status == 200


def test_nul_and_odd_characters_are_text(shared_server):
    for text in ["\0", "a\0b", "\u202e", "😀" * 5, "\ufeff", " "]:
        assert shared_server.post("/v1/translate", {"text": text, "beam": 1}).status == 200


def test_openai_client(shared_server):
    client = openai.OpenAI(base_url=shared_server.url + "/v1", api_key="none")
    assert "language" in [model.id for model in client.models.list()]
    assert client.models.retrieve("language").owned_by == "synthesizer"
    ask = {"model": "language", "prompt": "ROMEO:", "max_tokens": 12, "seed": 4, "temperature": 0.7}
    whole = client.completions.create(**ask)
    assert whole.object == "text_completion" and whole.choices[0].finish_reason == "length"
    assert whole.usage.prompt_tokens == 6 and whole.usage.completion_tokens == 12
    pieces = list(client.completions.create(**ask, stream=True))
    assert "".join(piece.choices[0].text for piece in pieces) == whole.choices[0].text
    assert pieces[-1].choices[0].finish_reason == "length"
    several = client.completions.create(**{**ask, "prompt": ["a", "b"]}, n=2, echo=True)
    assert [choice.index for choice in several.choices] == [0, 1, 2, 3]
    assert [choice.text[0] for choice in several.choices] == ["a", "a", "b", "b"]
    full = client.completions.create(**{**ask, "max_tokens": 60}).choices[0].text
    stop = full[30:32]
    stopped = client.completions.create(**{**ask, "max_tokens": 60}, stop=stop).choices[0]
    assert stopped.text == full[: full.index(stop)] and stopped.finish_reason == "stop"
    with pytest.raises(openai.NotFoundError):
        client.completions.create(model="none", prompt="a")
    with pytest.raises(openai.BadRequestError):
        client.completions.create(model="language", prompt="a", temperature=9)


def test_libretranslate_client(shared_server, alone):
    client = libretranslatepy.LibreTranslateAPI(shared_server.url + "/")
    assert {language["code"] for language in client.languages()} == {"en", "de"}
    expected = alone["numbers", 1]
    assert client.translate(SOURCES[1], "en", "de") == expected[1][1]
    assert client.translate("seven\ntwelve", "auto", "de") == f"{expected[0][1]}\n{expected[3][1]}"
    with pytest.raises(urllib.error.HTTPError):
        client.translate("seven", "de", "en")
    body = {"q": [SOURCES[0], SOURCES[3]], "source": "en", "target": "de", "alternatives": 2}
    answer = shared_server.good("/translate", body)
    assert len(answer["translatedText"]) == 2 and len(answer["alternatives"][0]) == 2


def test_libretranslate_offers_translation_models_alone(serve, dialogue_run, small_run):
    server = serve(dialogue_run, small_run)
    assert {language["code"] for language in server.get("/languages").json()} == {"en", "de"}
    body = {"q": "one", "source": "source", "target": "target"}
    assert server.post("/translate", body).status == 400
    answer = server.post("/translate", {**body, "model": "talk"})
    assert answer.status == 400 and "its task is dialogue: use /v1/translate" in answer.error()[0]


def test_json_that_is_sent_as_a_form_is_json(shared_server, alone):
    """As `curl -d` sends it."""
    body = {"q": SOURCES[0], "source": "en", "target": "de"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for text in (json.dumps(body), urllib.parse.urlencode(body)):
        answer = shared_server.post("/translate", text, headers=form)
        assert answer.json() == {"translatedText": alone["numbers", 1][0][1]}


def test_it_listens_on_this_machine_alone(shared_server):
    assert shared_server.host == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):  # another address of the loopback interface
        socket.create_connection(("127.0.0.2", shared_server.port), timeout=5)


def test_requests_are_not_logged(shared_server):
    before = len(shared_server.lines)
    shared_server.good("/v1/translate", {"text": "secret words", "beam": 1})
    shared_server.post("/v1/translate", {"text": "secret words", "what": 1})
    shared_server.post("/v1/secret", "secret words")
    time.sleep(0.2)
    assert shared_server.lines[before:] == []
