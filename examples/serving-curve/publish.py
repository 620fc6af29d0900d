#!/usr/bin/env python3
"""Writes the recipe whose published figures are those of a run of this example.

    retrial judge last --output json | ./publish.py > published.yaml

The noise is that of the run's trials around their mean, pooled over the points. sigma is that of the mean.
"""

import json
import math
import os
import sys

FIGURES = ("output_throughput", "tpot_p50")
DIGITS = 4


def values_by_point(verdict, figure):
    """The trials of each point, whose results are valid."""
    points = {}
    for result in verdict["results"]:
        trials = [trial["figures"][figure]["value"] for trial in result["trials"] if trial["valid"]]
        if not result["valid"] or len(trials) < 3:
            sys.exit(f"error: {result['scenario']}: {len(trials)} valid trials; publish three or more: run --trials 3")
        points[int(result["point"]["value"])] = trials
    return points


def published(figure, points):
    mean = {point: sum(trials) / len(trials) for point, trials in points.items()}
    squares = sum((value / mean[point] - 1) ** 2 for point, trials in points.items() for value in trials)
    noise = math.sqrt(squares / sum(len(trials) - 1 for trials in points.values()))
    sigma = noise / math.sqrt(min(map(len, points.values())))
    at = ", ".join(f"{point}: {value:.{DIGITS}g}" for point, value in mean.items())
    shares = f"noise: {noise:.2%}, sigma: {sigma:.2%}"
    return f"        {figure}: {{ at: {{ {at} }}, kind: official, source: own run, {shares} }}"


def main():
    verdict = json.load(sys.stdin)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "recipe.yaml")) as recipe:
        print(recipe.read().rstrip("\n"))
    print("      expect:")
    for figure in FIGURES:
        print(published(figure, values_by_point(verdict, figure)))


if __name__ == "__main__":
    main()
