"""A third engine: the portable one under another name, which counts how often it is asked for what."""

from collections import Counter

from sedil.engines.portable import ENGINE as PORTABLE


class ToyEngine:
    """See `sedil.engines.contract.Engine`."""

    name = "toy"

    def __init__(self):
        self.calls = Counter()

    def __getattr__(self, operation):
        operate = getattr(PORTABLE, operation)

        def count_and_operate(*arguments, **options):
            self.calls[operation] += 1
            return operate(*arguments, **options)

        return count_and_operate


ENGINE = ToyEngine()
