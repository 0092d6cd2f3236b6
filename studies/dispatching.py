"""Two heuristics for job shops: schedules by a dispatching rule, made again and again at random.

Each schedule is active (Giffler and Thompson 1960): of the operation that could end first, the
machine gets one of the operations that could start before that end. The rule prefers some of them;
its preferences get noise, so that every schedule differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polarbear.problems.job_shop import Jobs

NOISE = 0.3  # standard deviation of the logarithm of a priority


def dispatch(problem: Any, seed: int, rule: str) -> None:
    """Make schedules by a rule until the budget ends.

    ``rule`` is 'shortest' (the shortest operation first) or 'most-work' (the job with the most work
    left first).
    """
    jobs = Jobs.read(problem.problem)
    rng = np.random.default_rng(seed)
    best = float("inf")
    while True:  # the report after the end of the budget ends the run
        best = min(best, schedule(jobs, rule, rng))
        problem.report(problem.elapsed(), best)


def schedule(jobs: Jobs, rule: str, rng: np.random.Generator) -> int:
    """The makespan of one active schedule."""
    n_jobs = len(jobs.durations)
    step = [0] * n_jobs  # the next operation of each job
    job_ready = [0] * n_jobs
    machine_ready = dict.fromkeys(jobs.machines[0], 0)
    work_left = [sum(durations) for durations in jobs.durations]
    noise = np.exp(NOISE * rng.standard_normal((n_jobs, len(jobs.durations[0])))).tolist()
    waiting = list(range(n_jobs))
    while waiting:
        earliest_end = None
        machine = -1
        for job in waiting:
            own_machine = jobs.machines[job][step[job]]
            start = max(job_ready[job], machine_ready[own_machine])
            end = start + jobs.durations[job][step[job]]
            if earliest_end is None or end < earliest_end:
                earliest_end = end
                machine = own_machine
        assert earliest_end is not None, "some job is waiting"
        chosen = -1
        highest = float("-inf")
        for job in waiting:
            start = max(job_ready[job], machine_ready[machine])
            if jobs.machines[job][step[job]] != machine or start >= earliest_end:
                continue
            priority = work_left[job] if rule == "most-work" else 1 / jobs.durations[job][step[job]]
            priority *= noise[job][step[job]]
            if priority > highest:
                highest = priority
                chosen = job
        duration = jobs.durations[chosen][step[chosen]]
        end = max(job_ready[chosen], machine_ready[machine]) + duration
        job_ready[chosen] = end
        machine_ready[machine] = end
        work_left[chosen] -= duration
        step[chosen] += 1
        if step[chosen] == len(jobs.durations[chosen]):
            waiting.remove(chosen)
    return max(job_ready)
