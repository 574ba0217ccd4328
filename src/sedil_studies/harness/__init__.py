"""What all studies share.

A study is a row type (`row_kind`), rows that are planned, a function that measures one of them
(`running.Study`), and a function that reports on the results file (`running.carry_out`). Its methods
(`method`) are made ready once, off the clock. `sedil_studies.photographs` is a small one to begin with.
"""
