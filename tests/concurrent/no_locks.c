/* A file system without locks: the calls named in NO_LOCKS_CALLS (flock, fcntl) fail with the error NO_LOCKS_ERRNO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

/* The error of a call, or 0 where it works. */
static int error_of(const char *call) {
    const char *calls = getenv("NO_LOCKS_CALLS"), *error = getenv("NO_LOCKS_ERRNO");
    return calls && error && strstr(calls, call) ? atoi(error) : 0;
}

int flock(int descriptor, int operation) {
    int error = error_of("flock");
    if (error) {
        errno = error;
        return -1;
    }
    int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
    return next(descriptor, operation);
}

static int control(const char *name, int descriptor, int command, void *argument) {
    int error = 0;
    switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        error = error_of("fcntl");
    }
    if (error) {
        errno = error;
        return -1;
    }
    int (*next)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
    return next(descriptor, command, argument);
}

/* Every argument that there is fits a pointer. */
#define CONTROL(name)                                                                                                  \
    int name(int descriptor, int command, ...) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, command);                                                                                  \
        void *argument = va_arg(arguments, void *);                                                                    \
        va_end(arguments);                                                                                             \
        return control(#name, descriptor, command, argument);                                                          \
    }

CONTROL(fcntl)
CONTROL(fcntl64)
