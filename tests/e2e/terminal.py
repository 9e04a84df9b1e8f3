#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command on a terminal of its own and does what a script says: terminal.py OUT ROWSxCOLUMNS STEP… -- COMMAND…

Steps, in order: wait:TEXT (up to 20 s, in what came since the step before), key:TEXT (\\e is escape), size:ROWSxCOLUMNS, sleep:SECONDS,
signal:NAME (to the command), gone (its end, up to 20 s). What the command wrote is in OUT. Prints its exit status (128 + signal) and whether the
terminal is as it was: "0 sane"."""
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time


def main():
    out, size = sys.argv[1], sys.argv[2]
    split = sys.argv.index("--")
    steps, command = sys.argv[3:split], sys.argv[split + 1:]
    master, slave = os.openpty()
    written = open(out, "wb")
    seen = bytearray()
    status = None

    def resize(text):
        rows, columns = map(int, text.split("x"))
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    resize(size)
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        os.closerange(3, 256)
        os.execvp(command[0], command)

    def read(seconds):
        ready, _, _ = select.select([master], [], [], seconds)
        if ready:
            data = os.read(master, 65536)
            written.write(data)
            seen.extend(data)

    def over():
        nonlocal status
        if status is None:
            got, how = os.waitpid(pid, os.WNOHANG)
            if got:
                status = 128 + os.WTERMSIG(how) if os.WIFSIGNALED(how) else os.WEXITSTATUS(how)
        return status is not None

    def until(what, condition):
        end = time.time() + 20
        while not condition():
            if time.time() > end:
                print("timeout: " + what)
                os.kill(pid, signal.SIGKILL)
                sys.exit(1)
            read(0.05)

    for step in steps:
        verb, _, text = step.partition(":")
        if verb == "wait":
            until(step, lambda: text.encode() in seen)
            del seen[:]
        elif verb == "key":
            os.write(master, text.replace("\\e", "\x1b").encode())
        elif verb == "size":
            resize(text)
            os.kill(pid, signal.SIGWINCH)
        elif verb == "sleep":
            end = time.time() + float(text)
            while time.time() < end:
                read(0.05)
        elif verb == "signal":
            os.kill(pid, getattr(signal, "SIG" + text))
        elif verb == "gone":
            until(step, over)
    until("the end", over)
    while select.select([master], [], [], 0.1)[0]:
        read(0)
    print(status, "sane" if termios.tcgetattr(slave) == before else "not sane")


main()
