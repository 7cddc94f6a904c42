"""synth serve in operation: who may ask, the queue and its limits, signals, reloading, TLS, the log."""

import concurrent.futures
import json
import os
import shutil
import signal
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from server import Answer, Server, events, last_error, refuses_connections


def test_a_token_is_asked_for(serve, small_run, tmp_path):
    (tmp_path / "tokens").write_text("first secret\n\nsecond\n")
    server = serve(small_run, "--token-file", tmp_path / "tokens")
    body = {"text": "one"}
    for header in [
        None,
        "second",
        "Bearer",
        "Bearer wrong",
        "Bearer secon",
        "Basic second",
        "Bearer second2",
        "Bearer secondsecond",
        "Bearer second second",
        "Bearer first secretfirst secret",
        "Bearer first",
    ]:
        headers = {"Authorization": header} if header else {}
        answer = server.post("/v1/translate", body, headers=headers)
        assert answer.status == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
        assert server.get("/v1/models", headers=headers).status == 401
        assert server.get("/metrics", headers=headers).status == 401
    for token in ["first secret", "second"]:
        assert server.post("/v1/translate", body, headers={"Authorization": f"Bearer {token}"}).status == 200
    assert server.get("/health").status == server.get("/").status == 200
    libre = {"q": "one", "source": "en", "target": "de"}
    for wrong in (
        libre,
        {**libre, "api_key": "third"},
        {"api_key": 7},
        "{",
        "",
    ):  # before the body is checked
        assert server.post("/translate", wrong).status == 401, wrong
    assert server.post("/translate", {**libre, "api_key": "second"}).status == 200
    for scheme in ("Bearer", "bearer"):
        headers = {"Authorization": f"{scheme} second"}
        assert server.post("/translate", libre, headers=headers).status == 200
        assert server.post("/v1/translate", body, headers=headers).status == 200


def test_other_origins_are_allowed_only_where_the_user_says_so(serve, small_run):
    origin = {"Origin": "https://example.org"}
    closed, open_ = serve(small_run), serve(small_run, "--cors", "https://example.org")
    assert "Access-Control-Allow-Origin" not in closed.get("/v1/models", headers=origin).headers
    assert open_.get("/v1/models", headers=origin).headers["Access-Control-Allow-Origin"] == origin["Origin"]
    asked = open_.ask("OPTIONS", "/v1/translate", headers=origin)
    assert asked.status == 204 and "POST" in asked.headers["Access-Control-Allow-Methods"]
    # A form or a script can send a POST of plain text to any server, and it need not read the answer.
    foreign = {"Content-Type": "text/plain", **origin}
    for site in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        answer = closed.post("/v1/models/reload", "", headers={**foreign, **site})
        assert answer.status == 403 and "--cors" in answer.error()[0]
        assert open_.post("/v1/models/reload", "", headers={**foreign, **site}).status == 200
        other = {**foreign, **site, "Origin": "https://example.com"}
        assert open_.post("/v1/models/reload", "", headers=other).status == 403
    assert closed.metric("synth_reloads_total") == 0 and open_.metric("synth_reloads_total") == 3
    # Its own page, a link to it, and programs.
    own = {"Origin": closed.url}
    for headers in (own, {**own, "Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}):
        assert closed.post("/v1/translate", {"text": "one"}, headers=headers).status == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert closed.get("/", headers=link).status == 200
    assert (
        closed.get("/metrics", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    )  # an image, a script
    assert closed.post("/v1/models/reload", "", headers=link).status == 403  # a form


def test_loading_leaves_no_threads_that_compute(environment, numbers_run):
    """OpenMP lets all its threads sleep at every step where it keeps more of them than there are cores: a
    team of the thread that loaded the models, beside the engine's, costs two thirds of the throughput."""
    environment = environment | {"OMP_WAIT_POLICY": "passive"}  # no threads that come and go
    counts = []
    for threads in (1, 6):
        server = Server(environment, numbers_run, "--threads", threads)
        try:
            assert server.post("/v1/models/reload", {}).status == 200
            counts.append(len(os.listdir(f"/proc/{server.process.pid}/task")))
        finally:
            server.close()
    assert counts[1] - counts[0] <= 5  # LibTorch has a pool of its own, which sleeps


def test_a_full_queue_refuses_at_once_and_keeps_what_it_has(serve, language_run):
    server = serve(language_run, "--queue", 4, "--batch", 2)
    slow = {"prompt": "a", "tokens": 2000, "seed": 1}
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda _: server.post("/v1/generate", slow), range(24)))
    statuses = [answer.status for answer in answers]
    assert set(statuses) == {200, 429} and statuses.count(200) >= 4  # as many wait, however slow the engine
    for answer in answers:
        if answer.status == 429:
            assert int(answer.headers["Retry-After"]) >= 1 and "queue" in answer.error()[0]
    assert len({answer.body for answer in answers if answer.status == 200}) == 1
    assert server.metric("synth_rejected_total") == statuses.count(429)


def test_a_request_ends_at_its_time(serve, language_run):
    server = serve(language_run, "--timeout", 0.3, "--tokens", 100000)
    begin = time.monotonic()
    answer = server.post("/v1/generate", {"prompt": "a", "tokens": 100000})
    assert answer.status == 503 and "--timeout" in answer.error()[0] and time.monotonic() - begin < 5
    server.wait_for(lambda: server.metric("synth_active_texts") == 0)
    assert server.metric("synth_timed_out_total") == 1 and server.metric("synth_cancelled_total") == 0
    assert server.post("/v1/generate", {"prompt": "a", "tokens": 3}).status == 200


def test_a_stream_is_counted_with_the_status_that_it_ends_with(serve, language_run):
    server = serve(language_run, "--timeout", 0.3, "--tokens", 1000000, "--log")
    for number, (path, body) in enumerate([
        ("/v1/generate", {"prompt": "a", "tokens": 1000000}),
        ("/v1/completions", {"model": "language", "prompt": "a", "max_tokens": 1000000}),
    ], 1):  # fmt: skip
        answer = server.post(path, {**body, "stream": True})
        error = last_error(answer.body)
        assert (
            answer.status == 200 and error["type"] == "unavailable_error" and "--timeout" in error["message"]
        )
        server.wait_for(lambda path=path: server.answered(path, 503) == 1)
        connection = server.connect()
        connection.request("POST", path, json.dumps({**body, "stream": True}))
        connection.getresponse().read(1)
        connection.close()
        server.wait_for(lambda path=path: server.answered(path, 499) == 1)
        server.wait_for_texts(0, 0)
        assert server.metric("synth_timed_out_total") == number
        assert server.metric("synth_cancelled_total") == number
        assert server.answered(path, 200) == 0
    for status in (503, 499):
        assert sum(f"POST /v1/generate {status} " in line for line in server.lines) == 1
    server.good("/v1/generate", {"prompt": "a", "tokens": 3, "stream": False})
    assert events(server.post("/v1/generate", {"prompt": "a", "tokens": 3, "stream": True}).body)
    server.wait_for(lambda: server.answered("/v1/generate", 200) == 2)


def test_a_request_is_taken_whole_while_the_queue_is_not_full(serve, language_run):
    """What counts is how many texts wait already: a list is not refused more often than a single text."""
    server = serve(language_run, "--queue", 4, "--batch", 1, "--tokens", 1000000)
    held = []
    for count, active_and_waiting in [(1, (1, 0)), (3, (1, 3)), (64, (1, 67))]:
        held.append(server.connect())
        body = {"model": "language", "prompt": ["a"] * count, "max_tokens": 1000000}
        held[-1].request("POST", "/v1/completions", json.dumps(body))
        server.wait_for_texts(*active_and_waiting)
    answer = server.post("/v1/generate", {"prompt": "a", "tokens": 1})
    assert answer.status == 429 and server.metric("synth_rejected_total") == 1
    for connection in held:
        connection.close()
    server.wait_for_texts(0, 0)
    assert server.metric("synth_cancelled_total") == 68
    assert server.post("/v1/generate", {"prompt": "a", "tokens": 1}).status == 200


def test_a_client_that_goes_away_cancels_its_work(serve, language_run):
    server = serve(language_run, "--tokens", 1000000)
    cancelled = 0
    for path, body in [
        ("/v1/generate", {"prompt": "a", "tokens": 1000000}),
        ("/v1/completions", {"model": "language", "prompt": ["a", "b"], "max_tokens": 1000000, "n": 2}),
    ]:
        for stream in (False, True):
            connection, texts = server.connect(), 1 if path == "/v1/generate" else 4
            connection.request("POST", path, json.dumps({**body, "stream": stream}))
            server.wait_for_texts(texts, 0)
            connection.close()
            server.wait_for_texts(0, 0)
            cancelled += texts
            assert server.metric("synth_cancelled_total") == cancelled
    assert server.post("/v1/generate", {"prompt": "a", "tokens": 3}).status == 200


def test_a_client_that_goes_away_cancels_its_beam_search(serve, small_run):
    """A search of 512 sentences at once, which takes seconds, and as many that wait."""
    server = serve(small_run, "--batch", 512, "--lines", 1024)
    connection = server.connect()
    body = {"text": ["one hundred and twenty-one"] * 1024, "beam": 7, "max_length": 47}
    connection.request("POST", "/v1/translate", json.dumps(body))
    server.wait_for_texts(512, 512)
    connection.close()
    server.wait_for_texts(0, 0)
    assert server.metric("synth_cancelled_total") == 1024
    assert server.metric("synth_output_tokens_total") == 0
    assert server.post("/v1/translate", {"text": "one", "beam": 7}).status == 200


def test_sigterm_finishes_what_has_begun(serve, language_run):
    server = serve(language_run)
    alone = server.good("/v1/generate", {"prompt": "a", "tokens": 1500})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(server.post, "/v1/generate", {"prompt": "a", "tokens": 1500}) for _ in range(4)]
        server.wait_for(lambda: server.metric("synth_active_texts") == 4)
        status = threading.Thread(target=server.stop)
        status.start()
        for one in asked:
            assert one.result().json() == alone
        status.join()
    assert server.process.returncode == 0
    with pytest.raises(OSError):
        server.get("/health")


def test_sigterm_gives_up_what_takes_longer_than_the_drain(serve, language_run):
    server = serve(language_run, "--drain", 0.3, "--tokens", 1000000, "--log")
    body = {"prompt": "a", "tokens": 1000000}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = pool.submit(server.post, "/v1/generate", body)
        streamed = pool.submit(server.post, "/v1/generate", {**body, "stream": True})
        server.wait_for(lambda: server.metric("synth_active_texts") == 2)
        assert server.stop(20) == 0
        answer, stream = asked.result(), streamed.result()
    assert answer.status == 503 and "shutting down" in answer.error()[0]
    assert stream.status == 200 and "shutting down" in last_error(stream.body)["message"]
    server.reader.join(10)
    assert sum("POST /v1/generate 503 " in line for line in server.lines) == 2


def test_while_it_drains_ready_says_no_and_open_connections_may_ask_once_more(serve, language_run):
    server = serve(language_run, "--tokens", 1000000)

    def ask(connection, method, path, body=None):
        connection.request(method, path, body and json.dumps(body))
        return Answer(connection.getresponse())

    opened = [server.connect() for _ in range(5)]
    for connection in opened:
        assert ask(connection, "GET", "/ready").status == 200
    held = opened.pop()
    held.request("POST", "/v1/generate", json.dumps({"prompt": "a", "tokens": 1000000}))
    server.wait_for_texts(1, 0)
    server.process.send_signal(signal.SIGTERM)
    server.wait_for(lambda: refuses_connections(server))
    ready = ask(opened[0], "GET", "/ready")
    assert ready.status == 503 and "shutting down" in ready.error()[0]
    assert ready.headers["Connection"] == "close"
    assert ask(opened[1], "GET", "/health").status == 200
    short = {"prompt": "a", "tokens": 3}
    assert ask(opened[2], "POST", "/v1/generate", short).json()["tokens"] == 3
    *pieces, last = events(ask(opened[3], "POST", "/v1/generate", {**short, "stream": True}).body)
    assert last["tokens"] == 3
    assert server.process.poll() is None
    held.close()  # nothing is left to finish
    assert server.process.wait(20) == 0


def test_a_signal_that_comes_twice_at_once_is_one_request_to_stop(serve, language_run):
    """`timeout` signals its child, and then the child's group."""
    server = serve(language_run, "--tokens", 100000)
    body = {"prompt": "a", "tokens": 4000}
    expected = server.good("/v1/generate", body)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.post, "/v1/generate", body)
        server.wait_for_texts(1, 0)
        for _ in range(2):
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.03)
        assert asked.result().json() == expected
    assert server.process.wait(20) == 0


def test_a_second_signal_ends_it_at_once(serve, language_run):
    server = serve(language_run, "--tokens", 1000000)
    held = server.connect()
    held.request("POST", "/v1/generate", json.dumps({"prompt": "a", "tokens": 1000000}))
    server.wait_for_texts(1, 0)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert server.process.poll() is None
    assert server.stop(10) == 1
    held.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_before_the_server_is_ready(serve, small_run, tmp_path, number):
    """It starts until somebody writes the tokens: the file is a pipe."""
    os.mkfifo(tmp_path / "tokens")
    server = serve(small_run, "--token-file", tmp_path / "tokens", ready=False)
    opened = []

    def is_read():
        try:
            opened.append(os.open(tmp_path / "tokens", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # nobody has opened it for reading
            return False
        return True

    server.wait_for(is_read)
    server.process.send_signal(number)
    if number == signal.SIGHUP:
        os.write(opened[0], b"secret\n")
        os.close(opened[0])
        server.wait_for(lambda: "synth: small reloaded" in server.lines)
        headers = {"Authorization": "Bearer secret"}
        assert server.post("/v1/translate", {"text": "one"}, headers=headers).status == 200
        assert server.stop() == 0
    else:
        assert server.process.wait(10) == 0
        os.close(opened[0])
        server.reader.join(10)
        assert server.lines == ["synth: stopped before the server was ready"]


@pytest.mark.parametrize("how", ["signal", "request"])
def test_a_replaced_run_is_reloaded_without_losing_requests(serve, train, language_recipe, tmp_path, how):
    first = train(language_recipe, tmp_path / "first")
    second = train(language_recipe, tmp_path / "second", "seed=2")
    served = tmp_path / "served"
    shutil.copytree(first, served)
    server = serve(served)
    body = {"prompt": "ROMEO", "tokens": 300}
    before = server.good("/v1/generate", body)
    stop, answers = threading.Event(), []

    def load():
        while not stop.is_set():
            answers.append(server.post("/v1/generate", body))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    shutil.rmtree(served)
    shutil.copytree(second, served)
    if how == "signal":
        server.process.send_signal(signal.SIGHUP)
        server.wait_for(lambda: "synth: served reloaded" in server.lines)
    else:
        answer = server.post("/v1/models/reload", "")
        assert answer.json() == {"results": [{"model": "served", "reloaded": True}]}
    after = server.good("/v1/generate", body)
    stop.set()
    for thread in threads:
        thread.join()
    assert before != after
    assert all(answer.status == 200 and answer.json() in (before, after) for answer in answers)
    # A damaged run is not taken: the one before stays.
    (served / "model.safetensors").write_bytes(b"nothing")
    answer = server.post("/v1/models/reload", {"model": "served"})
    message, field = answer.error()
    assert answer.status == 500 and field == "model"
    assert message.startswith("'served' was not reloaded, the earlier one stays: ")
    assert server.good("/v1/generate", body) == after


def test_tls(serve, small_run, tmp_path):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key",
         "-out", tmp_path / "certificate"],
        check=True, capture_output=True,
    )  # fmt: skip
    server = serve(small_run, "--certificate", tmp_path / "certificate", "--key", tmp_path / "key")
    assert server.url.startswith("https://")
    trusted = ssl.create_default_context(cafile=tmp_path / "certificate")
    for _ in range(2):
        with urllib.request.urlopen(server.url + "/health", context=trusted) as answer:
            assert json.load(answer) == {"status": "ok"}
    request = urllib.request.Request(server.url + "/v1/translate", json.dumps({"text": "one"}).encode())
    with urllib.request.urlopen(request, context=trusted) as answer:
        assert len(json.load(answer)["results"]) == 1
    assert b"HTTP" not in server.send(b"GET /health HTTP/1.1\r\n\r\n")  # no plain requests
    with urllib.request.urlopen(server.url + "/health", context=trusted) as answer:
        assert answer.status == 200


def test_starting_with_mistakes(mistake, small_run, language_run, tmp_path):
    mistake("serve", tmp_path / "none", words=["none"])
    mistake("serve", tmp_path, words=["not a run folder"])
    mistake("serve", small_run, tmp_path / "none", words=["no such folder"])
    mistake("serve", small_run, small_run, words=["is given twice"])
    for name in ("a/b", "c/b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "small").symlink_to(small_run)
    mistake("serve", tmp_path / "a/b/small", tmp_path / "c/b/small", words=["both be served as 'b/small'"])
    (tmp_path / "mt.toml").write_text("")
    mistake("serve", tmp_path / "mt.toml", words=["mt.toml is a file", "run folder"])
    for origin in ("evil", "https://example.org/"):
        mistake("serve", small_run, "--cors", origin, words=["--cors", origin, "SCHEME://HOST"])
    mistake("serve", small_run, "--port", "70000", words=["--port", "65535"])
    mistake("serve", small_run, "--queue", "0", words=["--queue"])
    mistake("serve", small_run, "--token-file", tmp_path / "none", words=["none"])
    mistake("serve", small_run, "--certificate", tmp_path / "c", words=["--key"])
    mistake("serve", words=["RUN", "synth serve --help"])


def test_certificates_that_cannot_be_used(mistake, small_run, tmp_path):
    def make(name, kind):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", "1", "-subj", "/CN=localhost",
             "-keyout", tmp_path / f"{name}.key", "-out", tmp_path / f"{name}.pem"],
            check=True, capture_output=True,
        )  # fmt: skip

    make("rsa", ["rsa:2048"])
    make("other", ["rsa:2048"])
    make("elliptic", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
    subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-in", tmp_path / "rsa.key", "-out", tmp_path / "locked.key",
         "-passout", "pass:secret"],
        check=True, capture_output=True,
    )  # fmt: skip
    (tmp_path / "text").write_text("no key")
    for certificate, key, words in [
        ("none", "rsa.key", ["--certificate", "none", "No such file"]),
        ("text", "rsa.key", ["--certificate", "text", "not a PEM file with a certificate"]),
        ("rsa.pem", "none", ["--key", "none", "No such file"]),
        ("rsa.pem", "text", ["--key", "text", "not a PEM file with a private key"]),
        ("rsa.pem", "locked.key", ["--key", "without a password"]),
        ("rsa.pem", "other.key", ["--key", "does not belong to the certificate"]),
        ("rsa.pem", "elliptic.key", ["--key", "does not belong to the certificate"]),
    ]:
        files = ["--certificate", tmp_path / certificate, "--key", tmp_path / key]
        mistake("serve", small_run, *files, words=words)


def test_a_port_that_is_taken(serve, synth, small_run, tmp_path):
    server = serve(small_run)
    shutil.copytree(small_run, tmp_path / "damaged")
    (tmp_path / "damaged" / "model.safetensors").write_bytes(b"nothing")
    for run in (small_run, tmp_path / "damaged"):  # it is noticed before a run is opened
        done = synth("serve", run, "--port", server.port, ok=False)
        assert done.returncode == 1 and done.stderr.startswith("synth: error: cannot listen on 127.0.0.1:")


def test_contents_are_not_logged(serve, small_run):
    server = serve(small_run, "--log")
    server.good("/v1/translate", {"text": "secret words"})
    server.post("/v1/translate", {"text": "secret words", "what": 1})
    server.post("/v1/secret", "secret words")
    server.wait_for(lambda: len(server.lines) == 4)
    methods_paths_and_statuses = [line.split()[:3] for line in server.lines[1:]]
    expected = [("/v1/translate", "200"), ("/v1/translate", "400"), ("other", "404")]
    assert methods_paths_and_statuses == [["POST", *one] for one in expected]
