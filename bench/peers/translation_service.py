"""CTranslate2 behind FastAPI and uvicorn, as people serve it: requests that arrive within a few milliseconds,
or while a batch is translated, are the next batch.

    python -m peers.translation_service FOLDER PORT SETTING
"""

from __future__ import annotations

import asyncio
import json
import sys

import ctranslate2
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

GATHER = 0.005  # seconds


class Wanted(BaseModel):
    text: str
    beam: int = 1
    max_length: int = 64


def application(translator: ctranslate2.Translator, batch: int) -> FastAPI:
    app, queue = FastAPI(), asyncio.Queue()

    def work(items: list) -> list[str]:
        asked = [wanted for wanted, _ in items]
        beam = asked[0].beam
        # A greedy search can end each sentence at its own length; a beam search has one for the batch.
        ends = (
            {"callback": lambda step: step.step + 1 >= asked[step.batch_id].max_length} if beam == 1 else {}
        )
        results = translator.translate_batch(
            [[*wanted.text.split(), "</s>"] for wanted in asked],
            beam_size=beam,
            max_decoding_length=max(wanted.max_length for wanted in asked),
            max_batch_size=batch,
            **ends,
        )
        return [" ".join(result.hypotheses[0]) for result in results]

    async def batches() -> None:
        while True:
            items = [await queue.get()]
            await asyncio.sleep(GATHER)
            while not queue.empty() and len(items) < batch:
                items.append(queue.get_nowait())
            try:
                texts = await asyncio.to_thread(work, items)
                for (_, future), text in zip(items, texts):
                    if not future.done():
                        future.set_result(text)
            except Exception as failure:  # noqa: BLE001 - whoever waits is told
                for _, future in items:
                    if not future.done():
                        future.set_exception(failure)

    @app.on_event("startup")
    async def start() -> None:
        app.state.worker = asyncio.create_task(batches())

    @app.get("/health")
    async def health() -> dict:
        return {"status": "ok"}

    @app.post("/v1/translate")
    async def translate(wanted: Wanted) -> dict:
        future = asyncio.get_running_loop().create_future()
        await queue.put((wanted, future))
        return {"results": [{"text": await future}]}

    return app


def main() -> None:
    folder, port, setting = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    translator = ctranslate2.Translator(
        folder, compute_type=setting["compute_type"], inter_threads=1, intra_threads=setting["threads"]
    )
    uvicorn.run(application(translator, setting["batch"]), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main()
