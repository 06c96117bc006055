"""The pages of the console; each module has its templates beside it."""
