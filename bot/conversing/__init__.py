"""What every chat platform shares: who may ask, what is a question, what follows one."""
