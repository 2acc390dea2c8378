/* What is done with a counted call: see intercept.h. */
#define _GNU_SOURCE
#include "intercept.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum mode { NOTHING, RECORD, KILL, WRITE_HALF, ERROR, STICKY };

static struct {
    enum mode mode;
    char folder[PATH_MAX];
    size_t folder_length;
    long call;
    int error;
    int log;
} settings = {.log = -1};

/* The number of the next call, and the lock under which calls are counted and made. */
static long next_call;
static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;

static void stop(const char *why) {
    fprintf(stderr, "intercept: %s\n", why);
    _exit(99);
}

void *original(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        stop(name);
    return found;
}

static enum mode mode_named(const char *name) {
    static const char *const names[] = {"nothing", "record", "kill", "half", "error", "sticky"};
    for (int mode = RECORD; name != NULL && mode <= STICKY; mode++)
        if (strcmp(name, names[mode]) == 0)
            return (enum mode)mode;
    return NOTHING;
}

static long number_in(const char *variable) {
    const char *text = getenv(variable);
    return text == NULL ? -1 : strtol(text, NULL, 10);
}

__attribute__((constructor)) static void read_settings(void) {
    const char *folder = getenv("INTERCEPT_FOLDER");
    if (folder == NULL)
        return;
    settings.folder_length = strlen(folder);
    if (settings.folder_length == 0 || settings.folder_length >= PATH_MAX)
        stop("INTERCEPT_FOLDER");
    memcpy(settings.folder, folder, settings.folder_length + 1);
    settings.call = number_in("INTERCEPT_CALL");
    settings.error = (int)number_in("INTERCEPT_ERRNO");
    settings.mode = mode_named(getenv("INTERCEPT_MODE"));
    if (settings.mode == NOTHING)
        stop("INTERCEPT_MODE");
    if (settings.mode == RECORD) {
        const char *log = getenv("INTERCEPT_LOG");
        /* Past the functions of this library, which are not ready yet. */
        int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
        settings.log = log == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, log, flags, 0600);
        if (settings.log < 0)
            stop("INTERCEPT_LOG");
    }
}

/* The part of a path behind the folder. */
static bool below(const char *path, char *name) {
    size_t length = settings.folder_length;
    if (length == 0 || strncmp(path, settings.folder, length) != 0)
        return false;
    if (path[length] != '\0' && path[length] != '/')
        return false;
    const char *rest = path + length + (path[length] == '/');
    memmove(name, rest, strlen(rest) + 1);
    return true;
}

static bool link_target(const char *link, char *target) {
    ssize_t length = readlink(link, target, PATH_MAX - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    return true;
}

bool watched_descriptor(int descriptor, char *name) {
    if (settings.folder_length == 0)
        return false;
    int kept = errno;
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    bool found = link_target(link, target) && below(target, name);
    errno = kept;
    return found;
}

bool watched_path(int folder, const char *path, char *name) {
    if (settings.folder_length == 0 || path == NULL)
        return false;
    int kept = errno;
    char copy[PATH_MAX], parent[PATH_MAX], whole[2 * PATH_MAX];
    bool found = false;
    if (strlen(path) > 0 && strlen(path) < PATH_MAX) {
        /* The parent must exist, the last component need not, and is not followed. */
        strcpy(copy, path);
        char *slash = strrchr(copy, '/');
        const char *last = slash == NULL ? copy : slash + 1;
        const char *above = slash == NULL ? "." : slash == copy ? "/" : copy;
        if (slash != NULL)
            *slash = '\0';
        int opened = (int)syscall(SYS_openat, folder, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", opened);
        if (opened >= 0 && link_target(link, parent)) {
            snprintf(whole, sizeof whole, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, last);
            found = strlen(whole) < PATH_MAX && below(whole, name);
        }
        if (opened >= 0)
            close(opened);
    }
    errno = kept;
    return found;
}

ino_t inode_of(int descriptor) {
    int kept = errno;
    struct stat found;
    ino_t inode = fstat(descriptor, &found) == 0 ? found.st_ino : 0;
    errno = kept;
    return inode;
}

ino_t inode_at(int folder, const char *path) {
    int kept = errno;
    struct stat found;
    ino_t inode = fstatat(folder, path, &found, AT_SYMLINK_NOFOLLOW) == 0 ? found.st_ino : 0;
    errno = kept;
    return inode;
}

void die(void) {
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

enum verdict begin_call(size_t bytes) {
    pthread_mutex_lock(&one_call);
    long number = next_call++;
    bool here = number == settings.call;
    switch (settings.mode) {
    case KILL:
        if (here)
            die();
        break;
    case WRITE_HALF:
        if (here)
            return HALF;
        break;
    case ERROR:
        if (here) {
            errno = settings.error;
            return FAIL;
        }
        break;
    case STICKY:
        if (here && bytes > 1)
            return SHORT;
        if (number >= settings.call) {
            errno = settings.error;
            return FAIL;
        }
        break;
    default:
        break;
    }
    return GO;
}

static void append(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        long done = syscall(SYS_write, settings.log, at, length);
        if (done <= 0)
            stop("cannot write the log");
        at += done;
        length -= (size_t)done;
    }
}

void end_call(const char *kind, ino_t inode, off_t offset, size_t length, const void *bytes, const char *name,
              const char *other) {
    int kept = errno;
    if (settings.mode == RECORD) {
        char line[2 * PATH_MAX + 128];
        int size = snprintf(line, sizeof line, "%s\t%llu\t%lld\t%zu\t%s\t%s\n", kind, (unsigned long long)inode,
                            (long long)offset, length, name, other);
        append(line, (size_t)size);
        append(bytes, length);
    }
    pthread_mutex_unlock(&one_call);
    errno = kept;
}
