"""One document's annotation: questions, answers, and what follows from them."""
