"""How the shipped dictionaries are made: ``python -m sedil_studies.pretrained NAME...`` learns them anew."""
