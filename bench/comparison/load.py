"""Load on a server: requests at a fixed rate whatever becomes of the earlier ones (open loop), or as many at
a time as there are clients (closed loop)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import time
import urllib.request
from dataclasses import dataclass, field

PATH = "/v1/translate"
GRACE = 10  # seconds after the last request is due; what is not answered by then is given up
REFUSED = 429
RETRY = 0.2  # seconds that a client of the closed loop waits when it was refused
WARM = 0.2  # share of the time before a rate is measured


@dataclass
class Result:
    """Seconds of each answered request from the time it was due, and how the others ended."""

    seconds: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)  # status 429: seconds until that came
    unanswered: int = 0  # after GRACE
    failed: int = 0  # any other status, or a broken connection
    answered: list[float] = field(default_factory=list)  # when
    rate: float = 0  # answers per second while the load lasted

    def quantile(self, share: float) -> float:
        return quantile(self.seconds, share)

    def measure_rate(self, begin: float, end: float) -> None:
        """Answers may come in groups: from one answer to another, so that whole groups are counted."""
        warm = begin + WARM * (end - begin)
        within = [when for when in self.answered if when <= end]
        start = max((when for when in within if when < warm), default=begin)
        count = sum(when > start for when in within)
        self.rate = count / (within[-1] - start) if count else 0


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Clients:
    """Connections to one server, kept open and used again."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, body: bytes) -> int:
        """The answer's status."""
        reader, writer = (
            self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        )
        kept = False
        try:
            head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
            await reader.readexactly(
                next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
            )
            kept = "connection: close" not in lines
        finally:
            if kept:
                self.idle.append((reader, writer))
            else:
                writer.close()
        return int(lines[0].split()[1])

    def close(self) -> None:
        for _, writer in self.idle:
            writer.close()


async def _one(clients: Clients, body: bytes, due: float, result: Result) -> int | None:
    """The answer's status, where there is one."""
    try:
        status = await clients.post(body)
    except asyncio.CancelledError:
        result.unanswered += 1
        return None
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, StopIteration, ValueError):
        result.failed += 1
        return None
    took = time.perf_counter() - due
    if status == 200:
        result.seconds.append(took)
        result.answered.append(due + took)
    elif status == REFUSED:
        result.refused.append(took)
    else:
        result.failed += 1
    return status


async def _open_loop(port: int, bodies: list[bytes], rate: float, seconds: float) -> Result:
    clients, result, tasks = Clients(port), Result(), []
    begin = time.perf_counter()
    for n in range(max(1, int(rate * seconds))):
        due = begin + n / rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(_one(clients, bodies[n % len(bodies)], due, result)))
    result.measure_rate(begin, time.perf_counter())
    _, left = await asyncio.wait(tasks, timeout=GRACE)
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
    clients.close()
    return result


async def _closed_loop(port: int, bodies: list[bytes], count: int, seconds: float) -> Result:
    clients, result, begin = Clients(port), Result(), time.perf_counter()
    end = begin + seconds

    async def client(first: int) -> None:
        n = first
        while time.perf_counter() < end:
            if await _one(clients, bodies[n % len(bodies)], time.perf_counter(), result) == REFUSED:
                await asyncio.sleep(RETRY)
            n += count

    asking = [asyncio.create_task(client(n)) for n in range(count)]
    await asyncio.wait(asking, timeout=seconds + GRACE)
    result.measure_rate(begin, end)
    for task in asking:
        task.cancel()
    await asyncio.wait(asking)
    clients.close()
    return result


async def _one_by_one(port: int, bodies: list[bytes]) -> Result:
    clients, result = Clients(port), Result()
    for body in bodies:
        await _one(clients, body, time.perf_counter(), result)
    clients.close()
    return result


def _run(loop) -> Result:
    """Without pauses of this process's own."""
    gc.collect()
    gc.disable()
    try:
        return asyncio.run(loop)
    finally:
        gc.enable()


def _encoded(bodies: list[dict]) -> list[bytes]:
    return [json.dumps(body).encode() for body in bodies]


def open_loop(port: int, bodies: list[dict], rate: float, seconds: float) -> Result:
    return _run(_open_loop(port, _encoded(bodies), rate, seconds))


def closed_loop(port: int, bodies: list[dict], clients: int, seconds: float) -> Result:
    return _run(_closed_loop(port, _encoded(bodies), clients, seconds))


def one_by_one(port: int, bodies: list[dict]) -> Result:
    """Each once, on one connection."""
    return _run(_one_by_one(port, _encoded(bodies)))


def answers(port: int, bodies: list[dict], clients: int) -> list[str]:
    """The texts of the answers, in order, with so many requests at a time."""
    from concurrent.futures import ThreadPoolExecutor

    def ask(body: dict) -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{PATH}", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["results"][0]["text"]

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(ask, bodies))


def wait_until_ready(port: int, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5),
        ):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nothing answers on port {port}")
