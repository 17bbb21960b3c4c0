"""The plain implementation of the paper's function that tests take as the truth; the benchmark times it too."""

from helpers.naive import naive_ranking

__all__ = ["naive_ranking"]
