//! The command line, run as a program.
