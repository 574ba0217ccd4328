"""``sedil bench``: how fast it is, beside what users have today, measured in one run on one machine."""
