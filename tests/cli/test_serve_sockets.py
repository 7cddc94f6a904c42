"""synth serve and clients that do not behave: it stays up, answers the next good request, and completes what
it has accepted."""

import concurrent.futures
import contextlib
import gzip
import json
import resource
import socket
import threading
import time

import pytest
from server import receive

BODY = json.dumps({"text": "one"}).encode()


def request(body=BODY, *headers, path="/v1/translate", length=None):
    lines = [f"POST {path} HTTP/1.1", "Host: x", *headers]
    if length is not None or not any(line.lower().startswith("transfer-encoding") for line in headers):
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture(scope="module")
def server(environment, small_run):
    from server import Server

    made = Server(environment, small_run, "--read-timeout", 1, "--body", 100000, "--connections", 400)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def still_answers(server):
    """After every test: the next good request is answered, and nothing is left behind."""
    yield
    assert server.process.poll() is None, server.lines
    assert server.good("/v1/translate", {"text": "one"})["model"] == "small"
    server.wait_for(lambda: server.metric("synth_active_texts") == 0)


def status(answer):
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v1/translate HTTP/1.1\r\nContent-Length: -5\r\n\r\nabc",
        b"POST /v1/translate HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
        b"POST /v1/translate HTTP/1.1\r\nContent-Length: abc\r\n\r\nabc",
        b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 200000 + b"\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\n\r\n",
        b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nConnection: close\r\n\r\n",
        bytes(range(256)) * 40,
    ],
)
def test_what_is_no_request(server, data):
    answer = server.send(data, timeout=4)
    assert b"200 OK" not in answer and b"root:" not in answer


def test_partial_requests_are_given_up_in_time(server):
    whole = request()
    begin = time.monotonic()
    for end in (5, 30, len(whole) - len(BODY) - 1, len(whole) - 3):
        answer = server.send(whole[:end], timeout=5)
        assert status(answer) in (None, 400)
    assert time.monotonic() - begin < 12


def test_a_request_in_small_pieces_is_answered(server):
    with contextlib.closing(server.socket()) as own:
        whole = request(BODY, "Connection: close")
        for n in range(0, len(whole), 16):
            own.sendall(whole[n : n + 16])
            time.sleep(0.01)
        assert status(receive(own)) == 200


@pytest.mark.parametrize("sent", [b"POST /v1/tr", request()[:-3]], ids=["header", "body"])
def test_slow_clients_do_not_keep_others_waiting(serve, small_run, sent):
    server = serve(small_run, "--read-timeout", 30, "--connections", 400)
    slow = [server.socket() for _ in range(300)]
    for own in slow:
        own.sendall(sent)
    server.wait_for(lambda: server.metric("synth_connections") >= 300)
    begin = time.monotonic()
    server.good("/v1/translate", {"text": "one"})
    assert time.monotonic() - begin < 10  # not after the slow ones
    for own in slow:
        own.close()
    server.wait_for(lambda: server.metric("synth_connections") == 1)


def test_a_client_that_sends_bytes_one_by_one_is_given_up_in_time(server):
    begin = time.monotonic()
    with (
        contextlib.closing(server.socket()) as own,
        contextlib.suppress(BrokenPipeError, ConnectionResetError),
    ):
        for byte in request():
            own.sendall(bytes([byte]))
            time.sleep(0.1)
    assert time.monotonic() - begin < 8  # the whole would take 13 seconds


def test_ranges_are_ignored(server):
    """A body is sent once, and whole: a range more must not be a body more."""
    head = "GET / HTTP/1.1\r\nConnection: close\r\n"
    whole = server.send(f"{head}\r\n".encode())
    assert whole.startswith(b"HTTP/1.1 200 ") and b"\r\nAccept-Ranges: none\r\n" in whole
    for ranges in ["0-10", "-1", ",".join(["0-"] * 1000), ",".join(["0-0"] * 2000)]:
        assert server.send(f"{head}Range: bytes={ranges}\r\n\r\n".encode()) == whole
    for wrong in ["bytes=0-1,0-1,5-1", "bytes=99999999999999999999-", "pages=1-2"]:
        answer = server.send(f"{head}Range: {wrong}\r\n\r\n".encode())
        assert status(answer) == 416 and json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]


MULTIPART = b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\nseven\r\n--x--\r\n'


@pytest.mark.parametrize(
    "body, header",
    [
        (MULTIPART, "Content-Type: multipart/form-data; boundary=x"),
        (MULTIPART, "Content-Type: Multipart/Form-Data"),
        (MULTIPART, "Content-Type: multipart/mixed; boundary=x"),
        (BODY, "Content-Encoding: zstd"),
        (BODY, "Content-Encoding: gzip, br"),
    ],
)
@pytest.mark.parametrize("path", ["/translate", "/v1/translate"])
def test_bodies_of_unknown_kinds(server, path, body, header):
    answer = server.send(request(body, header, path=path), timeout=5)
    error = json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]
    assert status(answer) == 415 and ("multipart" in error["message"] or "gzip" in error["message"])


def test_a_long_line_of_the_header(server):
    fits, long = ("X: " + "a" * (length - 3) for length in (8190, 8191))
    assert status(server.send(request(BODY, fits, "Connection: close"))) == 200
    answer = server.send(request(BODY, long, "Connection: close"))
    assert status(answer) == 431 and b"a line of the header is longer than 8 kB" in answer


def test_what_is_refused_before_it_is_read_is_counted_and_logged(serve, small_run):
    server = serve(small_run, "--log", "--body", 100)
    for data in [
        request(b"a" * 101),
        request(BODY, "X: " + "a" * 9000),
        b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n",
        b"nonsense\r\n\r\n",
        request(BODY, length="abc"),
    ]:
        assert server.send(data, timeout=5).startswith(b"HTTP/1.1 4")
    expected = [
        ("POST", "/v1/translate", 413),
        ("POST", "/v1/translate", 431),
        ("-", "other", 414),
        ("-", "other", 400),
        ("POST", "/v1/translate", 400),
    ]
    for method, path, code in expected:
        assert server.answered(path, code) == 1
        assert sum(line.startswith(f"{method} {path} {code} ") for line in server.lines) == 1


def test_a_connection_too_many_is_told_so(serve, language_run):
    server = serve(language_run, "--connections", 1, "--tokens", 1000000, "--log")
    held = server.connect()
    body = {"prompt": "a", "tokens": 1000000, "stream": True}
    held.request("POST", "/v1/generate", json.dumps(body))
    held.getresponse().read(1)
    answer = server.get("/health")
    assert answer.status == 503 and answer.headers["Retry-After"] == "1"
    assert "--connections" in answer.error()[0] and answer.json()["error"]["type"] == "unavailable_error"
    server.wait_for(lambda: "- other 503 0.0 ms" in server.lines)
    held.close()
    server.wait_for(lambda: server.get("/health").status == 200)
    counts = server.metrics()
    refused = counts['synth_requests_total{path="other",status="503"}']
    assert counts["synth_connections_refused_total"] == refused >= 1
    assert server.metric("synth_rejected_total") == 0


def test_a_wrong_content_length(server):
    assert status(server.send(request(length=len(BODY) + 50), timeout=5)) == 400  # never comes
    answer = server.send(request(BODY, "Connection: close", length=len(BODY) - 2), timeout=5)
    assert status(answer) == 400  # cut
    assert status(server.send(request(length=200000), timeout=5)) == 413


def test_bodies_in_chunks(server):
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [BODY[:5], BODY[5:]]) + b"0\r\n\r\n"
    headers = ["Transfer-Encoding: chunked", "Connection: close"]
    assert status(server.send(request(chunks, *headers))) == 200
    endless = (b"1000\r\n" + b"a" * 4096 + b"\r\n") * 100
    assert status(server.send(request(endless, *headers), timeout=5)) == 413
    for wrong in [b"zz\r\nabc\r\n", b"ffffffffffffffffff\r\nabc", b"-1\r\nabc\r\n"]:
        assert status(server.send(request(wrong, *headers), timeout=5)) in (None, 400, 413)


def test_compressed_bodies(server):
    headers = ["Content-Encoding: gzip", "Connection: close"]
    assert status(server.send(request(gzip.compress(BODY), *headers))) == 200
    bomb = gzip.compress(b'{"text": "' + b"a" * 50_000_000 + b'"}')
    assert len(bomb) < 100000
    assert status(server.send(request(bomb, *headers), timeout=10)) == 413
    assert status(server.send(request(b"not gzip at all", *headers), timeout=5)) == 400
    assert status(server.send(request(gzip.compress(BODY)[:-9], *headers), timeout=5)) in (200, 400)


def test_a_request_without_a_length_has_no_body(server):
    begin = time.monotonic()
    head = b"POST /v1/models/reload HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert status(server.send(head)) == 200 and time.monotonic() - begin < 20
    assert status(server.send(head.replace(b"/v1/models/reload", b"/v1/translate"))) == 400


def test_a_body_that_is_too_large(server):
    answer = server.post("/v1/translate", b"a" * 100001)
    assert answer.status == 413 and "--body" in answer.error()[0]


BOTH = ["Transfer-Encoding: chunked", "Content-Length: 14"]


@pytest.mark.parametrize(
    "data",
    [
        request(b"e\r\n" + BODY + b"\r\n0\r\n\r\n", *BOTH),
        request(BODY, "Content-Length: 3"),  # and the true one
        request(BODY, "Transfer-Encoding: gzip"),
        request(BODY, "Transfer-Encoding: chunked, identity"),
        request(BODY, length="+14"),
        request(BODY, length="0x0e"),
        request(BODY, length=""),
        request(BODY).replace(b"POST", b"GET"),  # the body must not be taken for the next request
    ],
)
def test_where_a_body_ends_is_never_guessed(server, data):
    answers = server.send(data + request(), timeout=4)
    assert status(answers) == 400 and answers.count(b"HTTP/1.1 ") == 1


JSON = [
    (b'{"text": "\xff\xfe"}', 400),
    (b'{"text": "\xc0\xaf"}', 400),  # overlong
    (b'{"text": "\xed\xa0\x80"}', 400),  # half of a pair
    (b'{"text": "\\ud800"}', 400),
    (b'{"te\xff": 1}', 400),
    (b'{"text": "a\0b"}', 400),  # as it is, JSON forbids it
    (b'{"text": "a\\u0000b"}', 200),
    (b"\0" * 1000, 400),
    (b'{"text": ' + b"[" * 40000, 400),
    (b'{"a":' * 15000 + b"1" + b"}" * 15000, 400),
    (b'{"text": "one", "beam": 1e400}', 400),
    (b'{"text": "one", "beam": -1}', 400),
    (b'{"text": "one", "beam": 9223372036854775808}', 400),
    (b'{"text": "one", "beam": ' + b"9" * 5000 + b"}", 400),
    (b'{"text": "one", "length_penalty": -1e308}', 400),
    (b'{"text": "one", "max_length": 0}', 400),
    (b'{"text": "one", "beam": NaN}', 400),
    (b'{"text": "one", "beam": 01}', 400),
    (b"", 400),
    (b"\xef\xbb\xbf{}", 400),
]


@pytest.mark.parametrize("body, expected", JSON, ids=range(len(JSON)))
def test_bodies_that_are_hardly_json(server, body, expected):
    answer = server.send(request(body, "Connection: close"), timeout=10)
    assert status(answer) == expected, answer
    assert "error" in (found := json.loads(answer.split(b"\r\n\r\n", 1)[1])) or expected == 200, found


def test_odd_bytes_in_addresses_and_headers(server):
    for line in [b"/\xff\xfe", b"/v1/models/%00", b"/v1/models/%ff%fe", b"/%zz", b"/v1/models/\xc3\x28"]:
        answer = server.send(b"GET %s HTTP/1.1\r\nConnection: close\r\n\r\n" % line, timeout=4)
        assert status(answer) in (400, 404), answer
        json.loads(answer.split(b"\r\n\r\n", 1)[1])  # the message is UTF-8 whatever was asked for
    for header in [b"X: \xff\xfe", b"X: a\0b", b"Authorization: Bearer \xff", b": empty", b"no colon"]:
        head = b"GET /health HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n" % header
        assert status(server.send(head, timeout=4)) in (200, 400)


def test_a_client_that_waits_for_100_continue(server):
    with contextlib.closing(server.socket()) as own:
        whole = request(BODY, "Expect: 100-continue", "Connection: close")
        own.sendall(whole[: -len(BODY)])
        assert own.recv(100).startswith(b"HTTP/1.1 100 ")
        own.sendall(BODY)
        assert status(receive(own)) == 200


def test_100_000_headers(server):
    with contextlib.closing(server.socket(10)) as own:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            own.sendall(b"GET /health HTTP/1.1\r\n")
            for n in range(100):
                own.sendall(b"".join(b"X-%d: a\r\n" % (1000 * n + m) for m in range(1000)))
            own.sendall(b"\r\n")
        answer = receive(own)
    assert status(answer) == 431 and b"64 kB" in answer


def test_several_requests_on_one_connection(server):
    whole = request() * 3 + request(BODY, "Connection: close")
    answers = server.send(whole)
    assert answers.count(b"HTTP/1.1 200 OK") == 4
    connection = server.connect()
    for _ in range(20):
        connection.request("POST", "/v1/translate", BODY)
        assert connection.getresponse().read()
    connection.close()


def test_10_000_connections(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(10_000, hard - 200)
    own = []
    try:
        for n in range(count):
            own.append(socket.create_connection((server.host, server.port), timeout=20))
            if n % 1000 == 999:
                assert server.good("/v1/translate", {"text": "one"})
                assert 390 <= server.metric("synth_connections") <= 400  # --connections
        assert server.good("/v1/translate", {"text": "one"})
    finally:
        for one in own:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_clients_that_never_read(serve, language_run):
    server = serve(language_run, "--read-timeout", 1, "--tokens", 100000)
    body = json.dumps({"prompt": "a", "tokens": 100000, "stream": True}).encode()
    sockets = []
    for _ in range(4):
        own = socket.socket()
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        own.connect((server.host, server.port))
        own.sendall(request(body, path="/v1/generate"))
        sockets.append(own)
    server.wait_for(lambda: server.metric("synth_active_texts") == 4)
    assert server.post("/v1/generate", {"prompt": "a", "tokens": 3}).status == 200
    server.wait_for(lambda: server.metric("synth_active_texts") == 0, seconds=60)
    assert server.metric("synth_cancelled_total") == 4 and server.metric("synth_timed_out_total") == 0
    assert server.metric("synth_output_tokens_total") < 4 * 100000
    for own in sockets:
        own.close()
    assert server.post("/v1/generate", {"prompt": "a", "tokens": 3}).status == 200


def test_clients_that_leave_at_any_moment_lose_nothing_of_others(server):
    whole, expected = request(), server.good("/v1/translate", {"text": "one"})

    def leave(n):
        with contextlib.closing(server.socket()) as own:
            own.sendall(whole[: len(whole) - n % 3])

    def stay(_):
        return server.good("/v1/translate", {"text": "one"})

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        leaving = [pool.submit(leave, n) for n in range(100)]
        staying = [pool.submit(stay, n) for n in range(40)]
        assert all(one.result() == expected for one in staying)
        for one in leaving:
            one.result()


def test_good_requests_among_bad_ones_are_all_answered(server):
    """All kinds of bad clients at the same time, for some seconds."""
    expected, stop = server.good("/v1/translate", {"text": "one"}), threading.Event()
    whole = request()
    bad = [
        b"\x16\x03\x01" + bytes(50),
        whole[:40],
        whole[:-3],
        request(b"{", "Connection: close"),
        request(gzip.compress(b"a" * 1_000_000), "Content-Encoding: gzip"),
        request(b"zz\r\n", "Transfer-Encoding: chunked"),
        request(b'{"text": ' + b"[" * 5000),
        b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 20000,
    ]

    def misbehave(data):
        while not stop.is_set():
            server.send(data, timeout=0.3)

    with concurrent.futures.ThreadPoolExecutor(len(bad)) as pool:
        misbehaving = [pool.submit(misbehave, data) for data in bad]
        with concurrent.futures.ThreadPoolExecutor(8) as good:
            found = list(good.map(lambda _: server.good("/v1/translate", {"text": "one"}), range(200)))
        stop.set()
        for one in misbehaving:
            one.result()
    assert found == [expected] * 200
