"""Checking results, and timing what is right."""

import os
import platform
import statistics
import time

import numpy as np


def brute_force_error(image, distance, samples=8):
    """Largest relative error at random elements, by looking at every element within the distance claimed."""
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(samples):
        at = tuple(int(random.integers(n)) for n in image.shape)
        claimed = float(distance[at])
        reach = int(min(claimed, sum(image.shape))) + 1
        box = tuple(slice(max(0, x - reach), x + reach + 1) for x in at)
        found = np.argwhere(image[box] == 0)
        if not len(found):
            worst = max(worst, 0.0 if np.isinf(claimed) else np.inf)
            continue
        offset = [x - b.start for x, b in zip(at, box)]
        true = np.sqrt(float(((found - offset) ** 2).sum(1).min()))
        worst = max(worst, abs(claimed - true) / max(true, 1.0))
    return worst


def largest_difference(got, expected):
    """Relative, as the largest over all elements; infinite where one says there is no site and the other does not."""
    got, expected = np.asarray(got), np.asarray(expected)
    worst = 0.0
    for a, b in zip(got, expected):  # piece by piece
        finite = np.isfinite(b)
        if (np.isfinite(a) != finite).any():
            return float("inf")
        if finite.any():
            error = np.abs(a[finite].astype(np.float64) - b[finite]) / np.maximum(b[finite], 1)
            worst = max(worst, float(error.max()))
    return worst


class Contestant:
    """Something to time: runs while its share of the time budget lasts, at least once."""

    def __init__(self, run, budget):
        self.run, self.budget, self.seconds = run, budget, []

    def turn(self):
        if self.seconds and sum(self.seconds) > self.budget:
            return
        start = time.perf_counter()
        self.run()
        self.seconds.append(time.perf_counter() - start)

    def summary(self):
        return {"min": min(self.seconds), "median": statistics.median(self.seconds), "runs": len(self.seconds)}


def alternate(contestants, repeat):
    for _ in range(repeat):
        for contestant in contestants:
            contestant.turn()


def check_peer(run, feature, reference):
    result = run()
    if feature == "indices":
        result = result[0]
    convert = getattr(run, "convert", lambda field: field)
    return largest_difference(convert(result), reference)


def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": model, "processors": len(os.sched_getaffinity(0)), "memory_gib": round(memory / 2**30, 1),
            "system": f"{platform.system()} {platform.machine()}"}
