# Stops in the C code of an Op, and looks around. From the root of the project:
#
#     LAMELLA_FLAGS=c_debug=true gdb -batch -x docs/debugging_c.gdb --args python -m examples.c_op
#
# The function of a node with C code of a user's is named user_0, user_1, ...; its c_code begins at the label c_code. It is loaded while the
# program runs, so the breakpoint waits.
set confirm off
set pagination off
set breakpoint pending on
set print thread-events off
break user_0:c_code
run
# The text of c_code, with the names of its variables filled in.
list
backtrace 2
# The length of the first input.
print ((PyArrayObject_fields *)V0)->dimensions[0]
# One line further, as in any program; then to the end.
next
info locals
delete
continue
