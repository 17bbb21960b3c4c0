"""Training: recipes, the loop, and the jobs that run it."""
