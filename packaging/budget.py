#!/usr/bin/env python3
"""Prints what the program is made of: the number of crates that are linked into it, and for each direct dependency of the project's
crates the crates that would go with it. Fails above the budget. usage: budget.py MOST
"""
import collections
import subprocess
import sys

from common import ROOT

TARGET = "x86_64-unknown-linux-musl"


def edges():
    """What each linked crate depends on, and the project's own crates."""
    command = ["cargo", "tree", "--locked", "--package", "hookbox-cli", "--edges", "normal,no-proc-macro", "--target", TARGET,
               "--prefix", "depth", "--no-dedupe", "--format", " {p}"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    needs, above = collections.defaultdict(set), []
    for line in lines:
        depth, name, version = line.split(" ")[:3]
        crate = f"{name} {version.removeprefix('v')}"
        del above[int(depth):]
        if above:
            needs[above[-1]].add(crate)
        above.append(crate)
        needs[crate]
    return needs


def reached(needs, root, without=()):
    found, left = set(), [root]
    while left:
        crate = left.pop()
        if crate not in found and crate not in without:
            found.add(crate)
            left.extend(needs[crate])
    return found


def main(most):
    needs = edges()
    own = {crate for crate in needs if crate.startswith("hookbox")}
    root = next(crate for crate in own if crate.startswith("hookbox-cli "))
    everything = reached(needs, root) - own
    direct = sorted(set().union(*(needs[crate] for crate in own)) - own)
    print(f"{len(everything)} crates are linked into the program for {TARGET}; the budget is {most}\n")
    print("crates that go with it   direct dependency")
    gone = {crate: everything - reached(needs, root, {crate}) for crate in direct}
    for crate in sorted(direct, key=lambda crate: (-len(gone[crate]), crate)):
        if len(gone[crate]) > 1:
            print(f"{len(gone[crate]):22}   {crate}")
    if len(everything) > most:
        raise SystemExit(f"error: {len(everything)} crates, the budget is {most}: take one out, or say in packaging/dist.just why not")


if __name__ == "__main__":
    main(int(sys.argv[1]))
