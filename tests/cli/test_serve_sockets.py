"""synth serve and clients that do not behave: it stays up, answers the next good request, and completes what
it has accepted."""

import concurrent.futures
import contextlib
import gzip
import json
import resource
import socket
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


def test_slow_clients_do_not_keep_others_waiting(server):
    slow = [server.socket() for _ in range(60)]
    for own in slow:
        own.sendall(b"POST /v1/translate HTTP/1.1\r\nContent-Le")
    begin = time.monotonic()
    server.good("/v1/translate", {"text": "one"})
    assert time.monotonic() - begin < 5
    for own in slow:
        assert status(receive(own)) in (None, 400)
        own.close()


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


def test_100_000_headers(server):
    with contextlib.closing(server.socket(10)) as own:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            own.sendall(b"GET /health HTTP/1.1\r\n")
            for n in range(100):
                own.sendall(b"".join(b"X-%d: a\r\n" % (1000 * n + m) for m in range(1000)))
            own.sendall(b"\r\n")
        assert b"200 OK" not in receive(own)


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
