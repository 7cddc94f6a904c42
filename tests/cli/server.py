"""A server of the program under test, and plain requests to it."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def error(self):
        """The error's message and field; the form is checked."""
        error = self.json()["error"]
        assert set(error) == {"message", "type", "param"}, error
        return error["message"], error["param"]


class Server:
    """`synth serve` as a process; `lines` is what it says on standard error."""

    def __init__(self, environment, *arguments, ready=True):
        command = [os.environ["SYNTH"], "serve", *map(str, arguments), "--port", "0"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.lines, self.scheme, self.host, self.port = [], None, None, None
        self.listening = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if ready:
            assert self.listening.wait(120) and self.port, self.lines

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if found := re.match(r"listening on (https?)://\[?([^\]]+?)\]?:(\d+)$", self.lines[-1]):
                self.scheme, self.host, self.port = found[1], found[2], int(found[3])
                self.listening.set()
        self.listening.set()

    @property
    def url(self):
        return f"{self.scheme}://{self.host}:{self.port}"

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, timeout=60):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        with contextlib.closing(self.connect(timeout)) as connection:
            connection.request(method, path, body, headers or {})
            return Answer(connection.getresponse())

    def post(self, path, body, **options):
        return self.ask("POST", path, body, **options)

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def good(self, path, body):
        answer = self.post(path, body)
        assert answer.status == 200, answer.body
        return answer.json()

    def socket(self, timeout=30):
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def send(self, data, timeout=30):
        """Raw bytes; what comes back until the server closes."""
        with contextlib.closing(self.socket(timeout)) as own:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                own.sendall(data)
            return receive(own)

    def metrics(self):
        """The numbers of one answer of /metrics, by name. Where a single connection is allowed, the last one
        may still be open: then it is asked again."""
        answers = []

        def answered():
            answers.append(self.get("/metrics"))
            return answers[-1].status == 200

        self.wait_for(answered)
        lines = [line.rpartition(" ") for line in answers[-1].body.decode().splitlines()]
        return {name: float(number) for name, _, number in lines if name and not name.startswith("#")}

    def metric(self, name):
        return self.metrics()[name]

    def answered(self, path, status):
        """How many requests to a path were answered with a status, as the server counts."""
        return self.metrics().get(f'synth_requests_total{{path="{path}",status="{status}"}}', 0)

    def wait_for(self, happened, seconds=30):
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end and self.process.poll() is None, self.lines
            time.sleep(0.02)

    def wait_for_texts(self, active, waiting):
        """Until so many texts are worked on, and so many wait."""

        def happened():
            counts = self.metrics()
            return (counts["synth_active_texts"], counts["synth_queue_length"]) == (active, waiting)

        self.wait_for(happened)

    def stop(self, seconds=60):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join(5)
        self.process.stdout.close()
        self.process.stderr.close()


def receive(own):
    """All bytes until the other side closes or nothing comes for the socket's time."""
    data = b""
    with contextlib.suppress(TimeoutError, ConnectionResetError):
        while piece := own.recv(65536):
            data += piece
    return data


def refuses_connections(server):
    try:
        server.socket(5).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it was just being closed
        pass
    return False


def events(body):
    """The data of server-sent events; the last must be [DONE]."""
    parts = event_texts(body)
    assert parts[-1] == "[DONE]", parts
    return [json.loads(part) for part in parts[:-1]]


def last_error(body):
    """The error that ends server-sent events."""
    return json.loads(event_texts(body)[-1])["error"]


def event_texts(body):
    return [part.removeprefix("data: ") for part in body.decode().split("\n\n") if part]
