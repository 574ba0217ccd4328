"""A campaign whose cases end in every way there is; see test_fuzz."""

import os
import signal
import time

from fuzz.runner import Finding, Outcome


class BrokenCampaign:
    seconds_per_case = 1.0

    def prepare(self):
        pass

    def attack(self, seed, case):
        if case == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if case == 5:
            time.sleep(60)
        if case == 7:
            raise RuntimeError("a fault of the campaign")
        return Outcome("done", (Finding("odd", f"seed {seed}"),) if case == 9 else ())

    def describe(self, seed, case):
        return f"case {case} of seed {seed}"


CAMPAIGN = BrokenCampaign()
