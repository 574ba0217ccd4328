"""The commands of ``sedil``, one a file: parse, call one library function, show."""
