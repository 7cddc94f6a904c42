"""Calls of the system that fail, one after another, in a short training, average, export and comparison.

The program must end with one error line and status 1, or do without what failed and give the right result.
What was there before is intact, and going on as a user does gives the bits of an undisturbed run.

tests/faults/inject.cpp makes the calls fail. A slice of the calls here; all of them with
SWEEP=complete ./run test cli_faults.
"""

import errno
import os
import zlib

import pytest
from fault_scenarios import SCENARIOS, SWEEP, chosen, spread
from runs import assert_one_error

FAULTS = {
    "open": {"FAULTS_CALL": "open", "FAULTS_ERRNO": errno.EMFILE},
    "write": {"FAULTS_CALL": "write", "FAULTS_ERRNO": errno.EIO},
    "full disk": {"FAULTS_CALL": "write", "FAULTS_ERRNO": errno.ENOSPC, "FAULTS_ON": 1, "FAULTS_SHORT": 1},
    "fsync": {"FAULTS_CALL": "fsync", "FAULTS_ERRNO": errno.EIO},
    "rename": {"FAULTS_CALL": "rename", "FAULTS_ERRNO": errno.EIO},
    "mmap": {"FAULTS_CALL": "mmap", "FAULTS_ERRNO": errno.ENOMEM},
    "mkdir": {"FAULTS_CALL": "mkdir", "FAULTS_ERRNO": errno.ENOSPC},
    "unlink": {"FAULTS_CALL": "unlink", "FAULTS_ERRNO": errno.EIO},
    "read-only": {"FAULTS_CALL": "change", "FAULTS_ERRNO": errno.EROFS, "FAULTS_ON": 1},
    "large malloc": {"FAULTS_CALL": "large"},
    "malloc": {"FAULTS_CALL": "malloc"},
}
# toml++ takes a number that it has no memory to read for one that is wrong.
SWALLOWED = "could not be interpreted as a value"
# There a lock may stay behind, which refuses nobody (test_second_command.py).
NOTHING_IS_REMOVED = ["unlink", "read-only"]
# In a slice: one of the calls, at another place for each.
SLICE = {
    "train": ["open", "full disk", "fsync", "mkdir", "read-only", "malloc"],
    "resume": ["write", "full disk", "rename", "fsync", "mmap", "large malloc"],
    "average": ["open", "full disk", "mmap", "rename"],
    "export": ["write", "full disk", "rename", "read-only"],
    "compare": ["open", "full disk", "fsync"],
}
CASES = [(command, name) for command in SLICE for name in (FAULTS if SWEEP else SLICE[command])]
# A program allocates memory some hundred thousand times: so many of them, evenly spread.
MOST_ALLOCATIONS = 150


@pytest.fixture(scope="module")
def scenarios(synth, environment, language_recipe, text, tmp_path_factory):
    """Each is prepared when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = SCENARIOS[name](folder, language_recipe, text, synth, environment)
        return made[name]

    return get


def disturbed(scenario, place, fault):
    """Runs the command with a fault; its status and standard error."""
    variables = {"LD_PRELOAD": os.environ["FAULT_INJECTION"], "FAULTS_UNDER": place, **fault}
    process = scenario.started(place, **{key: str(value) for key, value in variables.items()})
    _, err = process.communicate(timeout=120)
    return process.returncode, err


@pytest.fixture(scope="module")
def counts(scenarios):
    """How often an undisturbed command makes each kind of call."""
    known = {}

    def get(command):
        if command not in known:
            scenario = scenarios(command)
            place = scenario.new_place("place")
            status, err = disturbed(scenario, place, {"FAULTS_COUNT": f"{place}.count"})
            assert status == 0, err
            scenario.check_whole(place)
            with open(f"{place}.count") as file:
                known[command] = {name: int(count) for name, count in map(str.split, file)}
        return known[command]

    return get


def numbers(count, command, name):
    """Which of the calls fail, one at a time."""
    if SWEEP:
        return (
            chosen(count, 0)
            if "malloc" not in name
            else spread(count, min(MOST_ALLOCATIONS, len(chosen(count, 0))))
        )
    return [1 + zlib.crc32(f"{command} {name}".encode()) % count] if count else []


@pytest.mark.parametrize("command, name", CASES)
def test_a_call_that_fails(scenarios, counts, command, name):
    scenario, fault = scenarios(command), FAULTS[name]
    count = counts(command)[fault["FAULTS_CALL"]]
    tried = failed = 0
    for number in numbers(count, command, name):
        place = scenario.new_place("place")
        status, err = disturbed(scenario, place, {**fault, "FAULTS_AT": number})
        try:
            if status != 0:
                swallowed = name == "malloc" and status == 2 and SWALLOWED in err
                assert_one_error(1 if swallowed else status, err)
                failed += 1
            scenario.check(place, done=status == 0, tidy=name not in NOTHING_IS_REMOVED)
        except Exception as problem:
            problem.add_note(f"{name} {number} of {count}: status {status}, {err[-600:]}")
            raise
        tried += 1
    print(f"{command}, {name}: {count} calls, {tried} tried, {failed} of them ended the command")


def test_memory_that_is_missing_while_text_is_read(scenarios):
    """zlib reports it as it reports a damaged file, which the text is not."""
    scenario = scenarios("train")
    words = 0
    for number in range(1, 15):
        place = scenario.new_place("place")
        status, err = disturbed(scenario, place, {**FAULTS["large malloc"], "FAULTS_AT": number})
        if status != 0:
            assert_one_error(status, err)
            assert "damaged" not in err
            words += "out of memory" in err
    assert words > 4
