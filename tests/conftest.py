"""Settings that every test shares."""

from hypothesis import settings

# `make test` tries a few hundred random cases of each property, `make fuzz` thousands.
settings.register_profile("gate", max_examples=200, deadline=None, print_blob=True)
settings.register_profile("fuzz", settings.get_profile("gate"), max_examples=5000)
settings.load_profile("gate")
