"""The rewriting layer: functions from FunctionGraph to FunctionGraph, and the databases that hold them."""
