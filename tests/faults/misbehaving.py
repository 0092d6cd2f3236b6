"""Algorithms that misbehave, each with the statuses that are right for it."""

import contextlib
import ctypes
import json
import multiprocessing
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

QUICK = {}  # the statuses of algorithms that end by themselves
HANGING = {}  # the statuses of algorithms that only a limit ends
HELD = []


def ends(*statuses):
    """The algorithm evaluates a point, does something, and ends with one of these statuses."""

    def register(act):
        QUICK[act.__name__] = statuses
        return _evaluates_first(act)

    return register


def hangs(*statuses):
    """The algorithm evaluates a point, does something, and is ended at a limit."""

    def register(act):
        HANGING[act.__name__] = statuses
        return _evaluates_first(act)

    return register


def _evaluates_first(act):
    def solve(problem, seed):
        problem(problem.lower)
        return act(problem)

    return solve


@ends("ended")
def behaves(problem):
    problem(problem.upper)


@ends("crashed")
def raises(problem):
    raise RuntimeError("a matrix is singular")


@ends("crashed")
def raises_no_exception(problem):
    raise BaseException("bare")


@ends("crashed")
def raises_interrupt(problem):
    raise KeyboardInterrupt


@ends("crashed")
def raises_generator_exit(problem):
    raise GeneratorExit


@ends("crashed")
def raises_group(problem):
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])


@ends("crashed")
def raises_memory_error(problem):
    np.empty(2**60)


@ends("crashed")
def exits(problem):
    sys.exit()


@ends("crashed")
def exits_with_text(problem):
    sys.exit("the licence has expired")


@ends("crashed")
def recurses(problem):
    recurses(problem)


@ends("crashed")
def has_a_cause_that_is_itself(problem):
    error = ValueError("circle")
    error.__cause__ = error
    raise error


@ends("crashed")
def text_cannot_be_read(problem):
    class Unreadable(Exception):
        def __str__(self):
            raise Unreadable

    raise Unreadable


@ends("crashed")
def says_ten_megabytes(problem):
    raise ValueError("x" * 10**7)


@ends("crashed")
def says_surrogates(problem):
    raise ValueError("\udcff\ud800")


@ends("crashed")
def evaluates_nonsense(problem):
    problem("nonsense")


@ends("crashed")
def evaluates_another_dimension(problem):
    problem([object()] * 100)


@ends("bad-output")
def reports_backwards(problem):
    problem.report(5, 1.0)
    problem.report(4, 0.0)


@ends("ended")
def returns_nonsense(problem):
    return object()


@ends("ended")
def reports_nan(problem):
    problem.report(2, float("nan"))


@ends("ended")
def prints_a_lot(problem):
    for _ in range(20):
        os.write(1, b"word " * 100_000)


@ends("ended")
def prints_bytes_that_are_no_text(problem):
    os.write(2, bytes(range(256)) * 100)


@ends("killed")
def leaves_at_once(problem):
    os._exit(0)


@ends("killed")
def leaves_with_a_code(problem):
    os._exit(41)


@ends("killed")
def reads_at_null(problem):
    ctypes.string_at(0)


@ends("killed")
def aborts(problem):
    os.abort()


@ends("killed")
def divides_by_zero_in_hardware(problem):
    os.kill(os.getpid(), signal.SIGFPE)


@ends("killed")
def meets_a_bus_error(problem):
    os.kill(os.getpid(), signal.SIGBUS)


@ends("killed")
def overflows_the_stack_of_c(problem):
    sys.setrecursionlimit(10**9)
    nested = []
    for _ in range(10**6):
        nested = [nested]
    repr(nested)


@ends("lost")
def kills_itself(problem):
    os.kill(os.getpid(), signal.SIGKILL)


@ends("lost")
def terminates_itself(problem):
    os.kill(os.getpid(), signal.SIGTERM)


@ends("lost")
def terminates_its_group(problem):
    os.killpg(0, signal.SIGTERM)
    time.sleep(60)


@ends("lost")
def kills_its_parent(problem):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


@ends("ended")
def interrupts_its_group(problem):
    os.killpg(0, signal.SIGINT)


@ends("ended", "killed")  # the alarm comes before or after the end
def has_an_alarm_that_comes_later(problem):
    signal.setitimer(signal.ITIMER_REAL, 0.0005)


@ends("crashed")
def closes_all_files_and_waits(problem):
    os.closerange(3, 4096)
    time.sleep(60)


@ends("crashed")
def closes_all_files_and_ends(problem):
    os.closerange(0, 4096)


@ends("ended")
def closes_its_output(problem):
    os.closerange(0, 3)


@ends("killed")
def writes_into_all_files(problem):
    for descriptor in range(3, 1024):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"bytes that nobody expects")
    time.sleep(60)


@ends("killed")
def writes_a_pickle_into_all_files(problem):
    message = pickle.dumps(problem.instance)
    for descriptor in range(3, 1024):
        with contextlib.suppress(OSError):
            os.write(descriptor, struct.pack("!i", len(message)) + message)


@ends("killed")
def announces_two_gigabytes_to_all_files(problem):
    for descriptor in range(3, 1024):
        with contextlib.suppress(OSError):
            os.write(descriptor, struct.pack("!i", 2**31 - 1))
    time.sleep(0.01)


@ends("ended")
def forks_and_leaves_the_child(problem):
    if os.fork() == 0:
        time.sleep(1000)


@ends("ended")
def forks_and_both_return(problem):
    if os.fork() == 0:
        problem(problem.upper)


@ends("killed")
def dies_while_its_child_lives(problem):
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(5)


@ends("killed")
def dies_while_a_daemon_lives(problem):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGSEGV)


@ends("ended")
def forks_fifty_children(problem):
    for _ in range(50):
        if os.fork() == 0:
            time.sleep(1000)


@ends("ended")
def leaves_a_program(problem):
    subprocess.Popen(["sh", "-c", "trap '' TERM HUP INT; sleep 1000; sleep 1000"])


@ends("ended")
def leaves_an_orphan(problem):
    subprocess.run(["sh", "-c", "(setsid env -i sleep 1000 &)"], check=True)


@ends("ended")
def leaves_a_process_of_multiprocessing(problem):
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(1000,))
    child.start()


@ends("ended")
def leaves_a_thread(problem):
    threading.Thread(target=time.sleep, args=(1000,)).start()


@ends("ended")
def raises_in_a_thread(problem):
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()


@ends("ended")
def raises_while_it_is_collected(problem):
    class Fragile:
        def __del__(self):
            raise RuntimeError("too late")

    HELD.append(Fragile())
    HELD.clear()


@ends("ended", "crashed")
def opens_all_files(problem):
    with contextlib.suppress(OSError):
        for _ in range(10_000):
            HELD.append(os.open(os.devnull, os.O_RDONLY))


@ends("crashed", "killed")
def breaks_the_encoder(problem):
    json.dumps = None


@ends("crashed", "killed")
def deletes_the_builtins(problem):
    import builtins

    del builtins.len, builtins.isinstance


@ends("crashed")
def closes_the_socket_by_number(problem):
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) >= 100:
            os.close(int(name))
    time.sleep(60)


@ends("memory")
def takes_memory(problem):
    while True:
        HELD.append(np.ones(2_000_000))
        time.sleep(0.005)


@ends("memory")
def lets_children_take_memory(problem):
    for _ in range(4):
        if os.fork() == 0:
            HELD.append(np.ones(2**24))
            time.sleep(1000)
    time.sleep(1000)


@hangs("timeout")
def loops(problem):
    while True:
        pass


@hangs("timeout")
def swallows_everything(problem):
    while True:
        with contextlib.suppress(BaseException):
            problem(problem.upper)


@hangs("timeout")
def sleeps_in_c_and_holds_the_lock(problem):
    ctypes.PyDLL(None).sleep(1000)


@hangs("timeout")
def stops_itself(problem):
    os.kill(os.getpid(), signal.SIGSTOP)


@hangs("timeout")
def stops_its_parent(problem):
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(1000)


@hangs("timeout")
def blocks_all_signals_and_loops(problem):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


@hangs("timeout")
def waits_for_a_lock(problem):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@hangs("timeout")
def waits_for_a_child(problem):
    if os.fork() == 0:
        time.sleep(1000)
    os.wait()


@hangs("timeout")
def prints_for_ever(problem):
    while True:
        print("word " * 1000)
        time.sleep(0.0001)


@hangs("timeout")
def loops_in_an_exit_handler(problem):
    try:
        raise RuntimeError
    finally:
        while True:
            time.sleep(1)


@hangs("timeout")
def hangs_and_leaves_a_daemon(problem):
    subprocess.run(["sh", "-c", "(setsid sleep 1000 &)"], check=True)
    Path("/dev/null").touch()
    time.sleep(1000)
