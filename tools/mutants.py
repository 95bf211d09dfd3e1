"""Measures the checks: changes each solution by rules; its check must refuse it.

    python3 course.py test checks           # every exercise
    python3 course.py test checks 03a 05    # of some lessons

Operators change a number, an argument, a comparison, a statement. Specialisers make the
answer right for one case only: a parameter or a length keeps the value that it first
had, inputs are cut, made unique or rounded, a loop takes its first or last item alone,
a gradient is stopped. A mutant that does the same as the solution stands in
`tests/mutants_equal.toml` with the reason. `test_mutants` tries one mutant of
every third exercise, drawn by a seed.
"""

import random
import sys
import time
from collections import Counter

from tqdm import tqdm

from helpers.files import ROOT
from tools import notebook as nb
from tools.judge import process
from tools.lesson import Exercise, Lesson
from tools.mutation import IMPORT, Mutant, mutants

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EQUAL = ROOT / "tests" / "mutants_equal.toml"
# A mutant may wait for ever: one that takes so much longer than the solution does.
LEAST_SECONDS, TIMES, MOST_SECONDS = 10, 3, 300
MEMORY = 4 * 10**9  # bytes that one may take
REFUSED, ACCEPTED, BROKEN, ENDLESS = "refused", "accepted", "broken check", "endless"
FATES = {"solved": ACCEPTED, "not graded": BROKEN, "too long": ENDLESS,
         "ended itself": ENDLESS}
FLAG = ["tools.special", "applied"]
NONE = "no mutant"  # it cannot change anything that the check gives it, by its type
ROW = "{:34s} {:>11s} {:>13s} {:>6}"


def fate(task: Exercise, source: str, seconds: float) -> str:
    """Returns what the check of an exercise makes of a source."""
    verdict = process.judge({
        "module": task.module, "check": task.check, "name": task.name, "own": [],
        "setup": list(task.before), "taught": [], "source": source,
        "seconds": seconds, "clock": seconds, "memory": MEMORY, "flag": FLAG})
    result = verdict["result"]
    if result == "solved" and IMPORT in source and not verdict["flag"]:
        return NONE
    return FATES.get(result, REFUSED)


def listed() -> dict[str, dict[str, str]]:
    """Returns the mutants that are equal in effect, with reasons, by exercise."""
    return tomllib.loads(EQUAL.read_text("utf-8"))


def fates(task: Exercise, equal: dict[str, str], bar: tqdm, sample: int = 0
          ) -> dict[Mutant, str]:
    """Returns what the check makes of each mutant that is not listed as equal.

    Args:
      task: the exercise.
      equal: reasons, by the names of mutants that do the same as the solution.
      bar: advanced by one per mutant.
      sample: how many mutants, drawn by a seed; all if 0. A sample takes on trust
        that the solution itself is accepted.

    Raises:
      ValueError: the check refuses the solution, or a listed mutant is none.
    """
    made = mutants(task.answer)
    if unknown := equal.keys() - {mutant.name for mutant in made}:
        raise ValueError(f"{EQUAL.name}: {task.key} has no mutant {min(unknown)!r}")
    made = [mutant for mutant in made if mutant.name not in equal]
    limit, found = MOST_SECONDS, {}
    if sample:
        random.Random(task.key).shuffle(made)
    else:
        start = time.monotonic()
        if (said := fate(task, task.answer, limit)) != ACCEPTED:
            raise ValueError(f"{task.key}: the solution itself: {said}")
        limit = max(LEAST_SECONDS, TIMES * (time.monotonic() - start))
    for mutant in made:
        if (said := fate(task, mutant.source, limit)) != NONE:
            found[mutant] = said
        bar.update()
        if len(found) == sample:
            break
    return found


def main(arguments: list[str]) -> int:
    parser = nb.parser("test checks", __doc__)
    _, lessons = nb.chosen(parser, arguments)
    try:
        every = [task for path in lessons for task in Lesson(path).exercises]
        equal = listed()
    except ValueError as error:
        parser.error(str(error))
    process.prepare({"tools.special", *(task.module for task in every)})
    failed, refused, made, same = False, Counter(), Counter(), 0
    print(ROW.format("exercise", "operators", "specialisers", "equal"))
    with tqdm(unit="mutant", dynamic_ncols=True) as bar:
        for task in every:
            bar.set_postfix_str(task.key)
            same_as_it = equal.get(task.key, {})
            try:
                found = fates(task, same_as_it, bar)
            except ValueError as error:
                bar.write(str(error))
                failed = True
                continue
            of_all = Counter(mutant.special for mutant in found)
            held = Counter(m.special for m, said in found.items() if said != ACCEPTED)
            bar.write(row(task.key, held, of_all, len(same_as_it)))
            for mutant, said in found.items():
                if said != REFUSED:
                    bar.write(f"    {said}: {mutant.name}")
            refused, made, same = refused + held, made + of_all, same + len(same_as_it)
    print(row("together", refused, made, same))
    share = 100 * refused.total() / max(1, made.total())
    print(f"refused: {refused.total()} of {made.total()} ({share:.1f} %)")
    return int(failed or refused != made)


def row(name: str, refused: Counter, made: Counter, equal: int) -> str:
    """Returns how many of how many were refused, of each kind."""
    shown = (f"{refused[special]} of {made[special]}" for special in (False, True))
    return ROW.format(name, *shown, equal)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
