"""The typing layer: what can be known about a graph without running it.

Shapes, constants, aliasing (views), destruction (in-place), liveness, the check that a graph is well
typed, and the schedule that these facts allow: a FunctionGraph comes in, a ScheduledGraph goes out.
"""
