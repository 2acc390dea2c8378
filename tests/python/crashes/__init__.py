"""Crash sweep: a commit that is killed, fails or loses power leaves exactly the old or exactly the new content.

    python -m crashes --help

`commits` has the commits, `intercept` (with its library in C) stops a process at a chosen call that changes files,
`power` makes up what a disk may hold after a power loss, `judge` says what was left.
"""
