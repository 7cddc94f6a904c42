"""SIGKILL at random moments of training, tokenizing, averaging, exporting and comparing.

What was saved is intact, and going on as a user does gives the bits of an undisturbed run. A few kills here;
200 with SWEEP=complete ./run test cli_kills. The moments are drawn from a seed.
"""

import random
import signal
import time

import pytest
from fault_scenarios import SCENARIOS, SWEEP

KILLED = ["train", "resume", "tokenize", "average", "export", "compare"]
# Of each command; 200 in all in a complete sweep.
KILLS = dict.fromkeys(KILLED, 33) | {"train": 34, "tokenize": 34}
if SWEEP != "complete":
    KILLS = dict.fromkeys(KILLED, int(SWEEP or 2))


@pytest.mark.parametrize("name", KILLED)
def test_killed_at_any_moment(synth, environment, language_recipe, text, tmp_path, name):
    scenario = SCENARIOS[name](tmp_path, language_recipe, text, synth, environment)
    begin = time.monotonic()
    scenario.run_command(scenario.new_place("place"))
    duration = time.monotonic() - begin
    draw = random.Random(f"kills {name}")
    killed = 0
    for number in range(KILLS[name]):
        place = scenario.new_place("place")
        process = scenario.started(place)
        # The first part of each is LibTorch being loaded.
        moment = draw.uniform(0.1, 1) * duration
        try:
            _, err = process.communicate(timeout=moment)
        except Exception:  # it still runs, as it should
            process.send_signal(signal.SIGKILL)
            _, err = process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert process.returncode in (0, -signal.SIGKILL), err
        try:
            scenario.check(place, done=process.returncode == 0)
        except Exception as problem:
            problem.add_note(f"kill {number} at {moment:.3f} of {duration:.3f} s: {err[-600:]}")
            raise
    print(f"{name}: {killed} of {KILLS[name]} were killed before they had ended")
    assert killed > KILLS[name] // 3
