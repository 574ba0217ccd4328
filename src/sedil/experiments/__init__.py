"""The paper's table and figures: run, results file, draw (``sedil reproduce``)."""
