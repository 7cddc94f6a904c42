"""Load on a server: requests at a fixed rate whatever becomes of the earlier ones (open loop), or as many at
a time as there are clients (closed loop)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field


@dataclass
class Result:
    """Seconds of each answered request from the time it was due, and how the others ended."""

    seconds: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)  # status 429 or 503: seconds until that came
    failed: int = 0
    lasted: float = 0

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.lasted if self.lasted else 0

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Clients:
    """Connections to one server, kept open and used again."""

    def __init__(self, port: int, path: str) -> None:
        self.port, self.path = port, path
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, body: bytes) -> int:
        reader, writer = (
            self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        )
        head = f"POST {self.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        answer = await reader.readuntil(b"\r\n\r\n")
        lines = answer.decode().lower().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
        await reader.readexactly(length)
        if "connection: close" in lines:
            writer.close()
        else:
            self.idle.append((reader, writer))
        return int(lines[0].split()[1])

    def close(self) -> None:
        for _, writer in self.idle:
            writer.close()


async def _one(clients: Clients, body: bytes, due: float, result: Result) -> None:
    try:
        status = await clients.post(body)
    except (OSError, asyncio.IncompleteReadError, StopIteration):
        result.failed += 1
        return
    took = time.perf_counter() - due
    if status == 200:
        result.seconds.append(took)
    elif status in (429, 503):
        result.refused.append(took)
    else:
        result.failed += 1


async def _open_loop(port: int, path: str, bodies: list[bytes], rate: float, seconds: float) -> Result:
    clients, result, tasks = Clients(port, path), Result(), []
    begin = time.perf_counter()
    for n in range(int(rate * seconds)):
        due = begin + n / rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(_one(clients, bodies[n % len(bodies)], due, result)))
    await asyncio.gather(*tasks)
    result.lasted = time.perf_counter() - begin
    clients.close()
    return result


async def _closed_loop(port: int, path: str, bodies: list[bytes], count: int, seconds: float) -> Result:
    clients, result, begin = Clients(port, path), Result(), time.perf_counter()
    end = begin + seconds

    async def client(first: int) -> None:
        n = first
        while time.perf_counter() < end:
            await _one(clients, bodies[n % len(bodies)], time.perf_counter(), result)
            n += count

    await asyncio.gather(*(client(n) for n in range(count)))
    result.lasted = time.perf_counter() - begin
    clients.close()
    return result


def open_loop(port: int, path: str, bodies: list[dict], rate: float, seconds: float) -> Result:
    return asyncio.run(_open_loop(port, path, [json.dumps(b).encode() for b in bodies], rate, seconds))


def closed_loop(port: int, path: str, bodies: list[dict], clients: int, seconds: float) -> Result:
    return asyncio.run(_closed_loop(port, path, [json.dumps(b).encode() for b in bodies], clients, seconds))


def wait_until_ready(port: int, path: str, seconds: float = 120) -> None:
    import urllib.request

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5),
        ):
            return
        time.sleep(0.2)
    raise RuntimeError(f"nothing answers on port {port}")
