#!/usr/bin/env python3
"""Losses and metrics of fathom.torch beside MONAI's: tensors in, losses and gradients out.

Every result, and every gradient, must equal MONAI's within 1e-5 before it is timed. On a CUDA device MONAI takes
cuCIM for its distances if it is installed, else SciPy on the host; the first line says which. Prints a table; --json
FILE appends one JSON line for each row.

  pip install .[torch] monai
  python bench/torch_losses.py --shapes 4x8x128x128x128
  python bench/torch_losses.py --device cuda
"""

import argparse
import datetime
import importlib.util
import json
import time
import warnings

import fathom.torch as ours
import torch

from measure import machine

warnings.simplefilter("ignore")
from monai.losses import HausdorffDTLoss  # noqa: E402
from monai.metrics import compute_average_surface_distance, compute_hausdorff_distance  # noqa: E402


def scene(shape, device):
    """Logits of a network that has learnt something, and a one-hot target of smooth regions."""
    generator = torch.Generator().manual_seed(0)
    coarse = torch.randn((*shape[:2], *[max(2, n // 12) for n in shape[2:]]), generator=generator)
    mode = {2: "bilinear", 3: "trilinear"}[len(shape) - 2]
    smooth = torch.nn.functional.interpolate(coarse, size=shape[2:], mode=mode)
    target = torch.nn.functional.one_hot(smooth.argmax(1), shape[1]).movedim(-1, 1).float()
    logits = 4 * smooth + torch.nn.functional.interpolate(torch.randn(coarse.shape, generator=generator),
                                                          size=shape[2:], mode=mode)
    return logits.to(device), target.to(device)


def with_gradient(loss, logits, target):
    def run():
        values = logits.detach().requires_grad_()
        result = loss(values, target)
        result.backward()
        return result.detach(), values.grad

    return run


def contests(logits, target):
    """Name, our run and MONAI's of what is timed."""
    prediction = torch.nn.functional.one_hot(logits.argmax(1), logits.shape[1]).movedim(-1, 1).float()
    yield ("Hausdorff loss, and its gradient",
           with_gradient(ours.HausdorffDTLoss(softmax=True), logits, target),
           with_gradient(HausdorffDTLoss(softmax=True), logits, target))
    yield ("Hausdorff 95",
           lambda: (ours.hausdorff_distance(prediction, target, percentile=95),),
           lambda: (compute_hausdorff_distance(prediction, target, percentile=95),))
    yield ("symmetric surface distance",
           lambda: (ours.average_surface_distance(prediction, target, symmetric=True),),
           lambda: (compute_average_surface_distance(prediction, target, symmetric=True),))


def check(got, expected):
    for mine, theirs in zip(got, expected):
        # Of a gradient what counts is its size beside the largest.
        error = (mine - theirs).abs().max() / theirs.abs().max()
        if not error < 1e-5:
            raise SystemExit(f"results differ by {error}: nothing is timed")


def best_of(run, device, budget):
    """Least seconds of the runs that fit into the budget; at least one."""
    best, spent = float("inf"), 0.0
    while spent == 0 or spent < budget:
        start = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        best, spent = min(best, seconds), spent + seconds
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--shapes", default="4x8x512x512,4x8x128x128x128", help="batch x channels x space, by commas")
    parser.add_argument("--threads", type=int, help="of PyTorch and Fathom on the host; all, if not given")
    parser.add_argument("--budget", type=float, default=5, help="seconds for each run")
    parser.add_argument("--json", help="append results to this file")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    has_cucim = args.device == "cuda" and all(map(importlib.util.find_spec, ("cupy", "cucim")))
    by = "cuCIM" if has_cucim else "SciPy"
    name = torch.cuda.get_device_name() if args.device == "cuda" else machine()["cpu"]
    print(f"{name}; PyTorch {torch.__version__}; MONAI measures by {by}")
    print(f"{'shape':24}{'what':36}{'Fathom':>10}{'MONAI':>12}{'×':>8}   (ms)")
    for text in args.shapes.split(","):
        logits, target = scene([int(n) for n in text.split("x")], args.device)
        for what, mine, theirs in contests(logits, target):
            check(mine(), theirs())
            seconds, peer = best_of(mine, args.device, args.budget), best_of(theirs, args.device, args.budget)
            print(f"{text:24}{what:36}{seconds * 1e3:10.2f}{peer * 1e3:12.1f}{peer / seconds:8.1f}", flush=True)
            if args.json:
                record = {"shape": text, "what": what, "ours": seconds, "monai": peer, "by": by, "device": name,
                          "torch": torch.__version__, "date": datetime.date.today().isoformat(), **machine()}
                with open(args.json, "a") as file:
                    file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
