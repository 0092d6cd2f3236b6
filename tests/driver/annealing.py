"""Search algorithms that plan for their budget, and others that do not, for tests of contracts."""

import math
import os
import random


def annealing(problem, seed, plans=True, seedless=False, cooling="linear"):
    """Simulated annealing, whose steps shrink by a plan for its budget, or for a fixed one."""
    rng = random.SystemRandom() if seedless else random.Random(seed)
    lower, upper = problem.box
    widths = [high - low for low, high in zip(lower, upper, strict=True)]
    x = [low + width * rng.random() for low, width in zip(lower, widths, strict=True)]
    y = problem(x)
    plan = problem.budget if plans else 400
    scale = 0.05 * abs(y) + 1e-9
    t = 1
    while True:
        done = min(t / plan, 1.0)
        heat = 1 - done if cooling == "linear" else 0.01**done
        step = 0.4 * heat**2 + 1e-3
        z = [
            min(max(value + rng.gauss(0, step * width), low), low + width)
            for value, low, width in zip(x, lower, widths, strict=True)
        ]
        value = problem(z)
        t += 1
        if value <= y or rng.random() < math.exp(-(value - y) / (scale * heat + 1e-12)):
            x, y = z, value


def sampling(problem, seed, share=0.0, restarts=False, seedless=False):
    """Random search, which spends the last share of its budget on small steps from its best."""
    rng = random.SystemRandom() if seedless else random.Random(seed)
    lower, upper = problem.box
    best = None
    best_value = math.inf
    t = 0
    while True:
        t += 1
        is_local = best is not None and t > (1 - share) * problem.budget
        if is_local:
            point = [
                min(max(value + rng.gauss(0, 0.02 * (high - low)), low), high)
                for value, low, high in zip(best, lower, upper, strict=True)
            ]
        else:
            point = [rng.uniform(low, high) for low, high in zip(lower, upper, strict=True)]
        value = problem(point)
        if value < best_value:
            best, best_value = point, value


def population(problem, seed):
    """An evolution strategy whose population grows with its budget."""
    rng = random.Random(seed)
    lower, upper = problem.box
    size = max(2, int(problem.budget) // 20)
    step = 0.3
    parent = [rng.uniform(low, high) for low, high in zip(lower, upper, strict=True)]
    while True:
        children = []
        for _ in range(size):
            child = [
                min(max(value + rng.gauss(0, step * (high - low)), low), high)
                for value, low, high in zip(parent, lower, upper, strict=True)
            ]
            children.append((problem(child), child))
        parent = min(children)[1]
        step *= 0.9


def process_numbers(problem, seed):
    """Random search that ignores its seed, and does not plan."""
    rng = random.Random(os.urandom(8))
    lower, upper = problem.box
    while True:
        problem([rng.uniform(low, high) for low, high in zip(lower, upper, strict=True)])
