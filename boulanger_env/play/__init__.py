"""A person's game: in the terminal or in a window, with advice, saved after every move."""
