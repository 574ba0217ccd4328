"""Studies on top of the library: the paper's tables and figures, benchmarks, and the methods of others.

Nothing of the library imports this package; commands load it when they are run.

harness : what all studies share: rows, resuming, progress, interruption, tables
table1, figure1, faces, photographs, volumes : one study each
bench : how fast sedil is, beside others
peers : the methods of others, each adapted once
measures : what figures are taken by
pretrained : how the shipped dictionaries are made
"""
