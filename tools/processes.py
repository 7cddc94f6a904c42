"""Programs that scripts start: signals are passed on to them, and they do not outlive the script."""

import ctypes
import os
import signal
import subprocess

PR_SET_PDEATHSIG = 1


def end_with_parent(parent=None):
    """This process gets SIGTERM when the one that started it ends, however it ends (Linux).

    parent: its number, where it is known: it may have ended before this was arranged.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if parent not in (None, os.getppid()):
        os.kill(os.getpid(), signal.SIGTERM)


def run(command, **options):
    """Runs a program to its end, as subprocess.run(check=True); it has its time to save what it does.

    subprocess.run() itself kills a program a quarter of a second after Ctrl-C.
    """
    own = os.getpid()
    process = subprocess.Popen(command, preexec_fn=lambda: end_with_parent(own), **options)
    handled = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = {number: signal.signal(number, lambda n, _: process.send_signal(n)) for number in handled}
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status != 0:
        raise subprocess.CalledProcessError(status, command)
