"""The paper's Table 1: five images at five noise levels, by the paper's methods and those past it."""
