"""``python -m fuzz CAMPAIGN``: attack, count, and show what was found; each case can be done again."""

from __future__ import annotations

import argparse
import sys
import time

from fuzz.runner import CAMPAIGNS, load_campaign, run


def main() -> int:
    """Run a campaign; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("campaign", choices=sorted(CAMPAIGNS))
    parser.add_argument("--cases", type=int, default=10_000, help="how many (default 10,000)")
    parser.add_argument("--seconds", type=float, help="stop after so long, done or not")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default 0)")
    parser.add_argument("--workers", type=int, default=2, help="child processes (default 2)")
    parser.add_argument("--only", type=int, metavar="CASE", help="do one case, in this process, and show it")
    options = parser.parse_args()
    if options.only is not None:
        return replay(options.campaign, options.seed, options.only)
    print(
        f"{options.campaign}: seed {options.seed}, {options.cases:,} cases from {options.first}", flush=True
    )
    began = time.monotonic()
    report = run(
        options.campaign,
        options.cases,
        options.seed,
        first=options.first,
        workers=options.workers,
        seconds=options.seconds,
        tell=lambda text: print(text, file=sys.stderr, flush=True),
    )
    seconds = time.monotonic() - began
    print(report.as_text())
    n_found = sum(map(len, report.findings.values()))
    print(
        f"\n{options.campaign}: {report.n_cases:,} cases of seed {options.seed} in {seconds:.0f} s "
        f"({report.n_cases / seconds:.0f} a second), {n_found} findings of {len(report.findings)} kinds"
    )
    return int(bool(report.findings))


def replay(name: str, seed: int, case: int) -> int:
    """One case again."""
    campaign = load_campaign(name)
    campaign.prepare()
    print(campaign.describe(seed, case), flush=True)
    outcome = campaign.attack(seed, case)
    print(outcome.label)
    for finding in outcome.findings:
        print(f"{finding.kind}\n  {finding.words}")
    return int(bool(outcome.findings))


if __name__ == "__main__":
    sys.exit(main())
