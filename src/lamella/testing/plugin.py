"""The pytest plugin of Lamella, loaded by pytest wherever the distribution is installed."""
