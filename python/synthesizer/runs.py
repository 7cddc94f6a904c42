"""Trained runs: `synthesizer.load("runs/x")`."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from . import _C

Method = TypeVar("Method", bound=Callable[..., Any])


def _suggesting(method: Method) -> Method:
    """An option that the method does not have is a TypeError that names the nearest one it has."""
    known = list(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def call(self: Run, *arguments: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                suggestion = _C.did_you_mean(name, known)
                raise TypeError(f"{method.__name__}() has no option {name!r}{suggestion}")
        return method(self, *arguments, **options)

    return cast(Method, call)


class Run:
    """A run that `synth train` made, ready to use; `load` opens one.

    >>> import synthesizer
    >>> synthesizer.load("no/such/run")
    Traceback (most recent call last):
    ValueError: no/such/run is not a run folder: there is no such folder

    >>> m = synthesizer.load("runs/numbers")                     # doctest: +SKIP
    >>> m.translate(["twenty-one", "ninety-nine"], beam=4)       # doctest: +SKIP
    ['einundzwanzig', 'neunundneunzig']
    """

    def __init__(self, path: str | os.PathLike[str], weights: str = "best"):
        self._run = _C.Run(os.fspath(path), weights)
        self.path = os.fspath(path)

    @property
    def task(self) -> str:
        """What the run was trained for: "translation", "language-model"."""
        return self._run.task

    @property
    def config(self) -> str:
        """Every value of its recipe, as TOML."""
        return self._run.config

    @_suggesting
    def translate(
        self,
        lines: Sequence[str],
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        length_normalization: str | None = None,
        early_stopping: bool | None = None,
        transformers_rules: bool | None = None,
        forced_end: bool | None = None,
        renormalize: bool | None = None,
        min_length: int | None = None,
        no_repeat_ngram: int | None = None,
        max_length: int | None = None,
        nbest: int = 1,
        batch_tokens: int = 4096,
        too_long: str = "truncate",
    ) -> list[str] | list[list[tuple[str, float]]]:
        """One text per line; with `nbest` > 1 the n best of each, with scores.

        What is left out is as in the run's recipe.
        """
        options = _given(
            beam=beam,
            length_penalty=length_penalty,
            length_normalization=length_normalization,
            early_stopping=early_stopping,
            transformers_rules=transformers_rules,
            forced_end=forced_end,
            renormalize=renormalize,
            min_length=min_length,
            no_repeat_ngram=no_repeat_ngram,
            max_length=max_length,
            nbest=nbest,
        )
        results = self._run.translate(_lines(lines), options, batch_tokens, _truncates(too_long))
        return results if nbest > 1 else [best[0][0] for best in results]

    @_suggesting
    def generate(
        self,
        prompt: str = "",
        *,
        tokens: int = 100,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
    ) -> str:
        """The prompt and what the model goes on with."""
        options = _given(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
        return prompt + self._run.generate(prompt, tokens, options)

    @_suggesting
    def classify(
        self,
        lines: Sequence[str],
        *,
        probabilities: bool = False,
        batch_tokens: int = 4096,
        too_long: str = "truncate",
    ) -> list[str] | list[dict[str, float]]:
        """One label per line, or how likely each label is."""
        results = self._run.classify(_lines(lines), batch_tokens, _truncates(too_long))
        return [shares if probabilities else label for label, shares in results]

    def score(self, examples: Sequence[str] | Sequence[tuple[str, str]]) -> list[float]:
        """Log-probability in nats of each text, of a target given its source, or a label given its text."""
        return self._run.log_probabilities([[e] if isinstance(e, str) else list(e) for e in examples])

    def evaluate(self, *data: str | os.PathLike[str]) -> dict[str, float]:
        """Loss, perplexities and scores on "dev", "test" or files, under the keys of `synth eval --json`.

        Without a name: the test split where the recipe has one, else dev, as `synth eval` does.
        """
        return dict(self._run.evaluate([os.fspath(d) for d in data]))

    def __repr__(self) -> str:
        return f"<synthesizer run {self.path!r}: {self.task}>"


def load(path: str | os.PathLike[str], weights: str = "best") -> Run:
    """Any trained run. `weights`: "best", "last", "averaged" or a file.

    >>> m = load("runs/shakespeare", weights="last")             # doctest: +SKIP
    >>> print(m.generate("ROMEO:", tokens=200, temperature=0.8)) # doctest: +SKIP
    """
    return Run(path, weights)


def _given(**options: float | str | None) -> dict[str, float | str]:
    return {name: value for name, value in options.items() if value is not None}


def _lines(lines: Sequence[str]) -> list[str]:
    if isinstance(lines, str):
        raise TypeError("a list of texts is needed: write [text] for one")
    return list(lines)


def _truncates(too_long: str) -> bool:
    if too_long not in ("truncate", "error"):
        raise ValueError(f"too_long is {too_long!r}: it must be 'truncate' or 'error'")
    return too_long == "truncate"
