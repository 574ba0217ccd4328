"""Learn the shipped dictionaries anew: ``python -m sedil_studies.pretrained NAME...`` (default: all)."""

from sedil_studies.pretrained.making import main

main()
