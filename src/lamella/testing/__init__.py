"""The testing layer: verifiers of the Op, Type and rewrite contracts, for any project's own Ops."""
