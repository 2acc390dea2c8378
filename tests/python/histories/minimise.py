"""The smallest history that still fails, by leaving out steps and operations."""

from collections.abc import Callable, Iterator

from .model import Step

Steps = list[Step]


def minimise(steps: Steps, fails: Callable[[Steps], bool]) -> Steps:
    """Leaves out what is not needed for `fails`, halves first, then single steps and operations."""
    while True:
        smaller = next((attempt for attempt in _smaller(steps) if fails(attempt)), None)
        if smaller is None:
            return steps
        steps = smaller


def _smaller(steps: Steps) -> Iterator[Steps]:
    """Histories with less in them."""
    length = len(steps)
    while length:
        for start in range(0, len(steps), length):
            yield steps[:start] + steps[start + length :]
        length //= 2
    for number, step in enumerate(steps):
        ops = step.get("ops", [])
        length = len(ops)
        while length:
            for start in range(0, len(ops), length):
                fewer = step | {"ops": ops[:start] + ops[start + length :]}
                yield [*steps[:number], fewer, *steps[number + 1 :]]
            length //= 2
    for number, step in enumerate(steps):
        plainer = {"parent": None, "timestamp": None, "make_current": True}
        for key, value in plainer.items():
            if key in step and step[key] != value:
                yield [*steps[:number], step | {key: value}, *steps[number + 1 :]]
        for at, op in enumerate(step.get("ops", [])):
            if op.get("filters"):
                ops = [*step["ops"][:at], op | {"filters": {}}, *step["ops"][at + 1 :]]
                yield [*steps[:number], step | {"ops": ops}, *steps[number + 1 :]]
