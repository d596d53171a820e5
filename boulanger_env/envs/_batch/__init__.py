"""The compiled inside of the environments: one step of one game, and the batch's loops, threads and arrays."""
