"""Runs the cases: every engine in turn, again and again, every answer checked."""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .build import Programs
from .cases import Case, PlanCase, ReadCase
from .protocol import Engine, EngineError, TooSlow
from .rivals import C_PROGRAMS, MEMCPY_FLOOR, OURS, c_command, engine_command, read_request

BUDGET = 10.0
"""An engine whose rounds of a case have taken this many seconds together is not asked again."""


@dataclass
class Measured:
    """What one engine did in one case."""

    engine: str
    seconds: list[float] = field(default_factory=list)
    transfers: int | None = None
    """Of a plan."""
    fault: str | None = None
    """Why the answer is wrong or missing."""
    over: float | None = None
    """The limit in seconds, if no answer came within it."""

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


@dataclass
class Outcome:
    """What all engines did in one case."""

    case: Case
    measured: dict[str, Measured]

    @property
    def faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        return [
            f"{self.case.row} {self.case.name}: {one.engine}: {one.fault}"
            for one in self.measured.values()
            if one.fault
        ]


class Runner:
    """Keeps the engines that serve all cases running, and starts the C programs case by case."""

    def __init__(self, programs: Programs, folder: Path, repeats: int, limit: float, stack: ExitStack) -> None:
        self._programs = programs
        self._folder = folder
        self._repeats = repeats
        self._limit = limit
        self._stack = stack
        self._running: dict[str, Engine] = {}

    def run(self, case: Case, engines: list[str]) -> Outcome:
        """One checked round, which also warms the page cache, then `repeats` rounds checked and timed."""
        outcome = Outcome(case, {engine: Measured(engine) for engine in engines})
        with ExitStack() as of_this_case:
            questions = {engine: self._question(engine, case, of_this_case) for engine in engines}
            for round_number in range(self._repeats + 1):
                # Each round starts with another engine, so that none always follows the same one.
                shift = round_number % len(engines)
                for engine in engines[shift:] + engines[:shift]:
                    self._ask(outcome.measured[engine], case, *questions[engine], timed=round_number > 0)
        return outcome

    def _question(self, engine: str, case: Case, of_this_case: ExitStack) -> tuple[Engine, dict[str, Any] | None]:
        if engine in C_PROGRAMS:
            assert isinstance(case, ReadCase)
            command = c_command(engine, case, self._folder, self._programs)
            return of_this_case.enter_context(Engine(command)), None
        if engine not in self._running:
            self._running[engine] = self._stack.enter_context(Engine(engine_command(engine, self._programs)))
        if isinstance(case, ReadCase):
            return self._running[engine], read_request(engine, case, self._folder)
        assert isinstance(case, PlanCase)
        request = {"op": "plan", "shape": case.shape, "chunks": case.chunks, "times": case.times}
        return self._running[engine], request | case.selection.request(self._folder, case.slug)

    def _ask(self, measured: Measured, case: Case, engine: Engine, request: dict[str, Any] | None, timed: bool) -> None:
        if measured.fault or measured.over or (timed and sum(measured.seconds) > BUDGET):
            return
        # A plan is repeated by the engine, a read by asking again: every answer is checked.
        times = case.times if timed and isinstance(case, ReadCase) else 1
        try:
            answers = [engine.ask(request, self._limit) for _ in range(times)]
        except (TooSlow, EngineError) as error:
            if isinstance(error, TooSlow):
                measured.over = self._limit
            else:
                measured.fault = str(error)
            if engine.has_ended():
                self._running.pop(measured.engine, None)
            return
        measured.fault = next(filter(None, (fault_of(measured.engine, case, answer) for answer in answers)), None)
        measured.transfers = answers[0].get("transfers")
        seconds = sum(answer["seconds"] for answer in answers)
        if not measured.fault and (timed or seconds > BUDGET):
            measured.seconds.append(seconds)


def fault_of(engine: str, case: Case, answer: dict[str, Any]) -> str | None:
    """What is wrong with an answer, if anything is."""
    if isinstance(case, ReadCase):
        expected = case.expected_checksum if engine != MEMCPY_FLOOR else memcpy_checksum(case.expected().nbytes)
        if answer["checksum"] != expected:
            return f"wrong values: checksum {answer['checksum']} instead of {expected}"
        shape = list(case.expected().shape)
        return f"shape {answer['shape']} instead of {shape}" if answer.get("shape", shape) != shape else None
    assert isinstance(case, PlanCase)
    touched = case.selection.touched_chunks(case.shape, case.chunks)
    # Scattered elements of one chunk may take several transfers; the elements of a slice take one.
    enough = answer["transfers"] >= touched if case.selection.array is not None else answer["transfers"] == touched
    return None if enough else f"{answer['transfers']} transfers for {touched} chunks"


def memcpy_checksum(size: int) -> str:
    """The checksum of `size` bytes made of words that are 1: the sum of the first odd numbers."""
    return f"{(size // 8) ** 2 % 2**64:016x}"


def engines_of(case: Case, wanted: set[str] | None) -> list[str]:
    """Ours and the case's rivals, or those of them that are wanted."""
    return [engine for engine in (OURS, *case.rivals) if wanted is None or engine in wanted]


def run_all(runner: Runner, cases: list[Case], wanted: set[str] | None) -> Iterator[Outcome]:
    """Runs the cases in order, but those for which no engine is wanted.

    The values of a store are kept only as long as its cases last.
    """
    for number, case in enumerate(cases):
        if engines := engines_of(case, wanted):
            yield runner.run(case, engines)
        following = cases[number + 1] if number + 1 < len(cases) else None
        if isinstance(case, ReadCase) and not (isinstance(following, ReadCase) and following.store is case.store):
            case.store.forget()
