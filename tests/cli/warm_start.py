"""Starts of the program without half a second of waiting each: tests/warm_start/warm_start.cpp says how."""

import os
import select
import socket
import struct
import subprocess
import tempfile


class WarmStart:
    """One started program; `run` is subprocess.run for a copy of it."""

    def __init__(self, program, library, environment):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        own = {"LD_PRELOAD": library, "WARM_START_SOCKET": str(theirs.fileno())}
        self.process = subprocess.Popen([program], env={**environment, **own}, pass_fds=[theirs.fileno()])
        theirs.close()

    def close(self):
        self.socket.close()
        self.process.wait()

    def run(self, words, input, timeout, environment, cwd=None):
        """Input and output are files: what a program prints cannot block it."""
        variables = [f"{name}={value}" for name, value in environment.items()]
        texts = [str(len(words)), *words, str(cwd or os.getcwd()), *variables]
        message = b"".join(os.fsencode(text) + b"\0" for text in texts)
        ours, theirs = socket.socketpair()
        files = [tempfile.TemporaryFile() for _ in range(3)]
        try:
            files[0].write(input)
            files[0].seek(0)
            socket.send_fds(self.socket, [message], [*(file.fileno() for file in files), theirs.fileno()])
            theirs.close()
            pid = self.number(ours, 60)
            try:
                status = self.number(ours, timeout)
            except TimeoutError:
                os.kill(pid, 9)
                raise subprocess.TimeoutExpired(words, timeout) from None
            printed = []
            for file in files[1:]:
                file.seek(0)
                printed.append(file.read())
            return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), *printed)
        finally:
            for one in [ours, theirs, *files]:
                one.close()

    def number(self, answers, seconds):
        if not select.select([answers], [], [], seconds)[0]:
            raise TimeoutError
        return struct.unpack("i", answers.recv(4))[0]
