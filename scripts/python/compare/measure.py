"""Runs the cases: every engine in turn, again and again, every answer checked."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .build import Programs
from .cases import (
    BUDGET,
    Case,
    DeleteCase,
    DiffCase,
    Figure,
    MemoryCase,
    PlanCase,
    ReadCase,
    RebuildCase,
    RepackCase,
    StoreCase,
    TargetCase,
    WriteCase,
)
from .checksum import checksum_of_ones
from .made import made_file
from .memory import measure_memory
from .outcomes import Measured, Outcome
from .protocol import Engine, EngineError, TooSlow
from .read_back import fault_of_rebuilding, fault_of_writing
from .rivals import (
    C_PROGRAMS,
    MEMCPY_FLOOR,
    OURS,
    OURS_SYNCED,
    c_command,
    delete_request,
    diff_request,
    engine_command,
    read_request,
    repack_command,
    repack_request,
    write_command,
    write_request,
)
from .space import parts_of
from .touched import touch_memory

VERSIONS_IN_MEMORY = 4
"""What a file of many versions takes, and the values that it is written from, in first versions."""


@dataclass(frozen=True)
class Paths:
    """Files of a case that writes."""

    source: Path | None
    """What is written anew."""
    target: Path | None


@dataclass(frozen=True)
class Question:
    """How an engine is asked a case."""

    engine: Engine | list[str]
    """The engine, or the command that starts one for each answer."""
    request: dict[str, Any] | None
    target: Path | None = None
    """The file that it is to write."""
    original: Path | None = None
    """What the target is a copy of, before the engine gets it."""
    memory: int = 0
    """Bytes that the values and the target may take of the machine's memory."""

    def ask(self, limit: float) -> dict[str, Any]:
        """One answer. What earlier rounds have left for the disk goes there first, so as not to disturb this one."""
        if self.target is not None:
            if self.original is not None:
                shutil.copyfile(self.original, self.target)
            os.sync()
            touch_memory(self.memory)
        if isinstance(self.engine, Engine):
            return self.engine.ask(self.request, limit)
        with Engine(self.engine) as engine:
            return engine.ask(self.request, limit)

    def has_lost_engine(self) -> bool:
        """Whether an engine that was to live on has ended."""
        return isinstance(self.engine, Engine) and self.engine.has_ended()

    def clean(self) -> None:
        """Removes what was written."""
        if self.target is not None:
            self.target.unlink(missing_ok=True)


class Runner:
    """Keeps the engines that serve all cases running, and starts the C programs case by case."""

    def __init__(self, programs: Programs, folder: Path, repeats: int, limit: float, stack: ExitStack) -> None:
        self._programs = programs
        self._folder = folder
        self._repeats = repeats
        self._limit = limit
        self._stack = stack
        self._running: dict[str, Engine] = {}

    def run(self, case: Case, engines: list[str]) -> list[Outcome]:
        """One checked round, which also warms the page cache, then `repeats` rounds checked and timed."""
        if isinstance(case, MemoryCase):
            return [measure_memory(case, self._programs, self._folder, max(self._limit, case.limit))]
        measured = {engine: Measured(engine) for engine in engines}
        if isinstance(case, TargetCase):
            case.workload.prepare()
        with ExitStack() as of_this_case:
            questions = self._questions(case, engines, of_this_case)
            for round_number in range(self._repeats + 1):
                # Each round starts with another engine, so that none always follows the same one.
                shift = round_number % len(engines)
                for engine in engines[shift:] + engines[:shift]:
                    self._ask(measured[engine], case, questions[engine], timed=round_number > 0)
        if isinstance(case, WriteCase) and not case.weighed:
            return figures_of(case, measured)
        return [Outcome(case, measured)]

    def _questions(self, case: Case, engines: list[str], of_this_case: ExitStack) -> dict[str, Question]:
        """How each engine is asked; what stands on the disk for that is there as long as the case is."""
        source = target = None
        if isinstance(case, TargetCase):
            target = self._target(case, of_this_case)
        if isinstance(case, RebuildCase):
            source = of_this_case.enter_context(made_file(case, self._programs, self._folder))
        return {engine: self._question(engine, case, Paths(source, target), of_this_case) for engine in engines}

    def _question(self, engine: str, case: Case, paths: Paths, of_this_case: ExitStack) -> Question:
        own_processes = isinstance(case, TargetCase) and case.own_processes
        original = paths.source if isinstance(case, DeleteCase) else None
        memory = VERSIONS_IN_MEMORY * case.workload.first_bytes if isinstance(case, TargetCase) else 0
        if engine in C_PROGRAMS:
            command, request = self._command(engine, case, paths), None
        else:
            command, request = engine_command(engine, self._programs), self._request(engine, case, paths)
        if own_processes:
            return Question(command, request, paths.target, original, memory)
        if engine in C_PROGRAMS:
            return Question(of_this_case.enter_context(Engine(command)), request, paths.target, original, memory)
        if engine not in self._running:
            self._running[engine] = self._stack.enter_context(Engine(command))
        return Question(self._running[engine], request, paths.target, original, memory)

    def _target(self, case: TargetCase, of_this_case: ExitStack) -> Path:
        """The file that all engines write, one after the other; there is none before nor after."""
        target = self._folder / f"{case.slug}.h5"
        target.unlink(missing_ok=True)
        of_this_case.callback(target.unlink, missing_ok=True)
        return target

    def _command(self, engine: str, case: Case, paths: Paths) -> list[str]:
        if isinstance(case, WriteCase):
            assert paths.target is not None
            return write_command(engine, case, paths.target, self._programs)
        if isinstance(case, RepackCase):
            assert paths.source is not None and paths.target is not None
            return repack_command(engine, paths.source, paths.target, self._programs)
        assert isinstance(case, ReadCase)
        return c_command(engine, case, self._folder, self._programs)

    def _request(self, engine: str, case: Case, paths: Paths) -> dict[str, Any]:
        if isinstance(case, WriteCase):
            assert paths.target is not None
            return write_request(engine, case, paths.target)
        if isinstance(case, DeleteCase):
            assert paths.target is not None
            return delete_request(engine, case, paths.target)
        if isinstance(case, RepackCase):
            assert paths.source is not None and paths.target is not None
            return repack_request(engine, case, paths.source, paths.target)
        if isinstance(case, ReadCase):
            return read_request(engine, case, self._folder)
        if isinstance(case, DiffCase):
            return diff_request(case)
        assert isinstance(case, PlanCase)
        request = {"op": "plan", "shape": case.shape, "chunks": case.chunks, "times": case.times}
        return request | case.selection.request(self._folder, case.slug)

    def _ask(self, measured: Measured, case: Case, question: Question, timed: bool) -> None:
        is_weighed = isinstance(case, WriteCase) and case.weighed
        if measured.fault or measured.over or (timed and (is_weighed or sum(measured.seconds) > case.budget)):
            return
        # A plan is repeated by the engine, a read by asking again: every answer is checked.
        times = case.times if timed and isinstance(case, ReadCase) else 1
        limit = max(self._limit, case.limit) if isinstance(case, TargetCase) else self._limit
        try:
            answers = [question.ask(limit) for _ in range(times)]
            faults = (fault_of(measured.engine, case, answer, question, thorough=not timed) for answer in answers)
            measured.fault = next(filter(None, faults), None)
            if is_weighed and not measured.fault:
                assert question.target is not None
                measured.space = parts_of(question.target)
        except (TooSlow, EngineError) as error:
            if isinstance(error, TooSlow):
                measured.over = limit
            else:
                measured.fault = str(error)
            if question.has_lost_engine():
                self._running.pop(measured.engine, None)
            return
        finally:
            question.clean()
        measured.transfers = answers[0].get("transfers")
        seconds = sum(answer["seconds"] for answer in answers)
        if not measured.fault and (timed or seconds > BUDGET):
            measured.seconds.append(seconds)
            measured.steps.append(answers[0].get("steps", [seconds]))


def figures_of(case: WriteCase, measured: dict[str, Measured]) -> list[Outcome]:
    """The outcome of each figure of a case."""

    def of_figure(figure: Figure, one: Measured) -> Measured:
        return replace(one, seconds=[figure.seconds(steps) for steps in one.steps])

    return [
        Outcome(
            case.of_figure(figure),
            {
                engine: of_figure(figure, one)
                for engine, one in measured.items()
                if engine in (OURS, OURS_SYNCED, *figure.rivals)
            },
        )
        for figure in case.figures
    ]


def fault_of(engine: str, case: Case, answer: dict[str, Any], question: Question, thorough: bool) -> str | None:
    """What is wrong with an answer, if anything is; of many versions, `thorough` looks at more than the last."""
    if isinstance(case, WriteCase):
        assert question.target is not None
        return fault_of_writing(engine, case.workload, answer, question.target, thorough)
    if isinstance(case, RebuildCase):
        assert question.target is not None
        return fault_of_rebuilding(case.workload, case.left, question.target, thorough)
    if isinstance(case, ReadCase):
        expected = case.expected_checksum if engine != MEMCPY_FLOOR else checksum_of_ones(case.expected().nbytes)
        if answer["checksum"] != expected:
            return f"wrong values: checksum {answer['checksum']} instead of {expected}"
        shape = list(case.expected().shape)
        return f"shape {answer['shape']} instead of {shape}" if answer.get("shape", shape) != shape else None
    if isinstance(case, DiffCase):
        starts, values = case.expected
        right = (answer["starts"], answer["checksum"]) == (starts, values)
        return None if right else f"{len(answer['starts'])} chunks for {len(starts)}, or others, or other values"
    assert isinstance(case, PlanCase)
    touched = case.selection.touched_chunks(case.shape, case.chunks)
    # Scattered elements of one chunk may take several transfers; the elements of a slice take one.
    enough = answer["transfers"] >= touched if case.selection.array is not None else answer["transfers"] == touched
    return None if enough else f"{answer['transfers']} transfers for {touched} chunks"


def engines_of(case: Case, wanted: set[str] | None) -> list[str]:
    """Ours and the case's rivals, or those of them that are wanted."""
    engines = [engine for engine in (OURS, *case.rivals) if wanted is None or engine in wanted]
    if OURS in engines and isinstance(case, TargetCase) and case.synced_beside:
        engines.append(OURS_SYNCED)
    return engines


def run_all(runner: Runner, cases: list[Case], wanted: set[str] | None) -> Iterator[Outcome]:
    """Runs the cases in order, but those for which no engine is wanted.

    The values of a store are kept only as long as its cases last, and so are the files with values to be written.
    """
    for number, case in enumerate(cases):
        if engines := engines_of(case, wanted):
            yield from runner.run(case, engines)
        following = cases[number + 1] if number + 1 < len(cases) else None
        if isinstance(case, StoreCase) and not (isinstance(following, StoreCase) and following.store is case.store):
            case.store.forget()
        if isinstance(case, TargetCase) and not (
            isinstance(following, TargetCase) and following.workload.sources == case.workload.sources
        ):
            case.workload.forget()
