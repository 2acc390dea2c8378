/* The functions of the C library that change files: each asks intercept.c what is to become of it. */
#define _GNU_SOURCE
#include "intercept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&function))original(#function))

static void nothing_changed(void) { end_call("none", 0, 0, 0, NULL, "", ""); }

/* Writes at an offset, or at the descriptor's own where it is -1. */
static ssize_t put(int descriptor, const void *bytes, size_t length, off_t offset) {
    return offset < 0 ? NEXT(write)(descriptor, bytes, length) : NEXT(pwrite)(descriptor, bytes, length, offset);
}

/* Where write() writes. */
static off_t position(int descriptor) {
    struct stat found;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_APPEND) && fstat(descriptor, &found) == 0)
        return found.st_size;
    return lseek(descriptor, 0, SEEK_CUR);
}

/* A counted write: `offset` as for put(). */
static ssize_t change_bytes(int descriptor, const void *bytes, size_t length, off_t offset, const char *name) {
    off_t at = offset < 0 ? position(descriptor) : offset;
    ssize_t done = -1;
    switch (begin_call(length)) {
    case GO:
        done = put(descriptor, bytes, length, offset);
        break;
    case SHORT:
        done = put(descriptor, bytes, length / 2, offset);
        break;
    case HALF:
        put(descriptor, bytes, length / 2, offset);
        die();
    case FAIL:
        break;
    }
    if (done > 0)
        end_call("write", inode_of(descriptor), at, (size_t)done, bytes, name, "");
    else
        nothing_changed();
    return done;
}

/* The same for several buffers, as one call. */
static ssize_t change_buffers(int descriptor, const struct iovec *buffers, int count, off_t offset, const char *name) {
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += buffers[i].iov_len;
    char *all = malloc(length + 1);
    if (all == NULL)
        return -1;
    char *end = all;
    for (int i = 0; i < count; i++) {
        memcpy(end, buffers[i].iov_base, buffers[i].iov_len);
        end += buffers[i].iov_len;
    }
    ssize_t done = change_bytes(descriptor, all, length, offset, name);
    int kept = errno;
    free(all);
    errno = kept;
    return done;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    char name[PATH_MAX];
    if (!watched_descriptor(descriptor, name))
        return NEXT(write)(descriptor, bytes, length);
    return change_bytes(descriptor, bytes, length, -1, name);
}

ssize_t writev(int descriptor, const struct iovec *buffers, int count) {
    char name[PATH_MAX];
    if (!watched_descriptor(descriptor, name))
        return NEXT(writev)(descriptor, buffers, count);
    return change_buffers(descriptor, buffers, count, -1, name);
}

/* Functions that come twice, with off_t and with off64_t, which are one type here. */
#define POSITIONAL(suffix)                                                                                            \
    ssize_t pwrite##suffix(int descriptor, const void *bytes, size_t length, off_t offset) {                          \
        char name[PATH_MAX];                                                                                          \
        if (!watched_descriptor(descriptor, name))                                                                    \
            return NEXT(pwrite)(descriptor, bytes, length, offset);                                                   \
        return change_bytes(descriptor, bytes, length, offset, name);                                                 \
    }                                                                                                                 \
    ssize_t pwritev##suffix(int descriptor, const struct iovec *buffers, int count, off_t offset) {                   \
        char name[PATH_MAX];                                                                                          \
        if (!watched_descriptor(descriptor, name))                                                                    \
            return NEXT(pwritev)(descriptor, buffers, count, offset);                                                 \
        return change_buffers(descriptor, buffers, count, offset, name);                                              \
    }
POSITIONAL()
POSITIONAL(64)

#define POSITIONAL_FLAGS(function)                                                                                    \
    ssize_t function(int descriptor, const struct iovec *buffers, int count, off_t offset, int flags) {               \
        char name[PATH_MAX];                                                                                          \
        if (!watched_descriptor(descriptor, name))                                                                    \
            return NEXT(pwritev2)(descriptor, buffers, count, offset, flags);                                         \
        return change_buffers(descriptor, buffers, count, offset, name);                                              \
    }
POSITIONAL_FLAGS(pwritev2)
POSITIONAL_FLAGS(pwritev64v2)

/* Ends a call that copied bytes into a file: they are read back for the record. */
static void end_copy(int descriptor, off_t at, ssize_t done, const char *name) {
    char *bytes = done > 0 ? malloc((size_t)done) : NULL;
    /* A descriptor that can be read, if this one cannot. */
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int reader = bytes == NULL ? -1 : NEXT(open)(link, O_RDONLY | O_CLOEXEC);
    if (reader >= 0 && pread(reader, bytes, (size_t)done, at) == done)
        end_call("write", inode_of(descriptor), at, (size_t)done, bytes, name, "");
    else
        nothing_changed();
    if (reader >= 0)
        close(reader);
    free(bytes);
}

ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags) {
    char name[PATH_MAX];
    if (!watched_descriptor(to, name))
        return NEXT(copy_file_range)(from, from_offset, to, to_offset, length, flags);
    off_t at = to_offset == NULL ? position(to) : *to_offset;
    enum verdict verdict = begin_call(length);
    ssize_t done = -1;
    if (verdict != FAIL)
        done = NEXT(copy_file_range)(from, from_offset, to, to_offset, verdict == GO ? length : length / 2, flags);
    if (verdict == HALF)
        die();
    end_copy(to, at, done, name);
    return done;
}

#define SENDFILE(function)                                                                                            \
    ssize_t function(int to, int from, off_t *offset, size_t length) {                                                \
        char name[PATH_MAX];                                                                                          \
        if (!watched_descriptor(to, name))                                                                            \
            return NEXT(sendfile)(to, from, offset, length);                                                          \
        off_t at = position(to);                                                                                      \
        enum verdict verdict = begin_call(length);                                                                    \
        ssize_t done = verdict == FAIL ? -1 : NEXT(sendfile)(to, from, offset, verdict == GO ? length : length / 2);  \
        if (verdict == HALF)                                                                                          \
            die();                                                                                                    \
        end_copy(to, at, done, name);                                                                                 \
        return done;                                                                                                  \
    }
SENDFILE(sendfile)
SENDFILE(sendfile64)

/* Whether a counted call that writes no bytes is to be made; half of it is all of it, and then the end. */
static bool go(enum verdict *verdict) {
    *verdict = begin_call(0);
    return *verdict != FAIL;
}

/* Ends such a call. */
static int done(enum verdict verdict, int result, const char *kind, ino_t inode, off_t offset, const char *name,
                const char *other) {
    if (verdict == HALF)
        die();
    if (result >= 0 && verdict != FAIL)
        end_call(kind, inode, offset, 0, NULL, name, other);
    else
        nothing_changed();
    return result;
}

#define ON_DESCRIPTOR(kind, offset, ...)                                                                              \
    {                                                                                                                 \
        char name[PATH_MAX];                                                                                          \
        if (!watched_descriptor(descriptor, name))                                                                    \
            return __VA_ARGS__;                                                                                       \
        enum verdict verdict;                                                                                         \
        int result = go(&verdict) ? __VA_ARGS__ : -1;                                                                 \
        return done(verdict, result, kind, inode_of(descriptor), offset, name, "");                                   \
    }

int ftruncate(int descriptor, off_t size) ON_DESCRIPTOR("truncate", size, NEXT(ftruncate)(descriptor, size))
int ftruncate64(int descriptor, off_t size) ON_DESCRIPTOR("truncate", size, NEXT(ftruncate)(descriptor, size))
int fsync(int descriptor) ON_DESCRIPTOR("sync", 0, NEXT(fsync)(descriptor))
int fdatasync(int descriptor) ON_DESCRIPTOR("sync", 0, NEXT(fdatasync)(descriptor))
int syncfs(int descriptor) ON_DESCRIPTOR("none", 0, NEXT(syncfs)(descriptor))
/* It promises nothing of what the disk keeps. */
int sync_file_range(int descriptor, off_t offset, off_t length, unsigned flags)
    ON_DESCRIPTOR("none", 0, NEXT(sync_file_range)(descriptor, offset, length, flags))

/* Space for a file: its size is all that shows; other modes show as a file that is not as recorded. */
static int allocate(int descriptor, int mode, off_t offset, off_t length) {
    char name[PATH_MAX];
    if (!watched_descriptor(descriptor, name))
        return NEXT(fallocate)(descriptor, mode, offset, length);
    enum verdict verdict;
    int result = go(&verdict) ? NEXT(fallocate)(descriptor, mode, offset, length) : -1;
    struct stat found = {0};
    bool known = result == 0 && fstat(descriptor, &found) == 0;
    return done(verdict, result, known ? "truncate" : "none", inode_of(descriptor), found.st_size, name, "");
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return allocate(descriptor, mode, offset, length);
}
int fallocate64(int descriptor, int mode, off_t offset, off_t length) {
    return allocate(descriptor, mode, offset, length);
}
/* These give the error instead of setting it. */
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return allocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int descriptor, off_t offset, off_t length) {
    return allocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}

#define ON_PATH(kind, offset, folder, path, ...)                                                                      \
    {                                                                                                                 \
        char name[PATH_MAX];                                                                                          \
        ino_t inode = watched_path(folder, path, name) ? inode_at(folder, path) : 0;                                  \
        if (inode == 0)                                                                                               \
            return __VA_ARGS__;                                                                                       \
        enum verdict verdict;                                                                                         \
        int result = go(&verdict) ? __VA_ARGS__ : -1;                                                                 \
        return done(verdict, result, kind, inode, offset, name, "");                                                  \
    }

int truncate(const char *path, off_t size) ON_PATH("truncate", size, AT_FDCWD, path, NEXT(truncate)(path, size))
int truncate64(const char *path, off_t size) ON_PATH("truncate", size, AT_FDCWD, path, NEXT(truncate)(path, size))
int unlink(const char *path) ON_PATH("unlink", 0, AT_FDCWD, path, NEXT(unlink)(path))
int rmdir(const char *path) ON_PATH("rmdir", 0, AT_FDCWD, path, NEXT(rmdir)(path))
int unlinkat(int folder, const char *path, int flags)
    ON_PATH(flags & AT_REMOVEDIR ? "rmdir" : "unlink", 0, folder, path, NEXT(unlinkat)(folder, path, flags))
int remove(const char *path) ON_PATH("unlink", 0, AT_FDCWD, path, NEXT(remove)(path))

static int make_folder(int folder, const char *path, mode_t mode) {
    char name[PATH_MAX];
    if (!watched_path(folder, path, name))
        return NEXT(mkdirat)(folder, path, mode);
    enum verdict verdict;
    int result = go(&verdict) ? NEXT(mkdirat)(folder, path, mode) : -1;
    return done(verdict, result, "mkdir", inode_at(folder, path), 0, name, "");
}
int mkdir(const char *path, mode_t mode) { return make_folder(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return make_folder(folder, path, mode); }

static int move(int from, const char *old, int to, const char *new, unsigned flags) {
    char name[PATH_MAX], other[PATH_MAX];
    bool watched = watched_path(from, old, name);
    if (!watched_path(to, new, other) || !watched)
        return NEXT(renameat2)(from, old, to, new, flags);
    ino_t inode = inode_at(from, old);
    enum verdict verdict;
    int result = go(&verdict) ? NEXT(renameat2)(from, old, to, new, flags) : -1;
    return done(verdict, result, "rename", inode, 0, name, other);
}
int rename(const char *old, const char *new) { return move(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return move(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return move(from, old, to, new, flags);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char name[PATH_MAX];
    if (!watched_path(to, new, name))
        return NEXT(linkat)(from, old, to, new, flags);
    enum verdict verdict;
    int result = go(&verdict) ? NEXT(linkat)(from, old, to, new, flags) : -1;
    return done(verdict, result, "link", inode_at(to, new), 0, name, "");
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

/* Opens a file; counted if that makes it or empties it. */
static int open_counted(int folder, const char *path, int flags, mode_t mode) {
    char name[PATH_MAX];
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    bool changes = flags & (O_CREAT | O_TRUNC) || nameless;
    if (!changes || !watched_path(folder, path, name))
        return NEXT(openat)(folder, path, flags, mode);
    bool there = !nameless && faccessat(folder, path, F_OK, 0) == 0;
    bool makes = nameless || (!there && flags & O_CREAT);
    bool empties = there && flags & O_TRUNC && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_EXCL);
    if (!makes && !empties)
        return NEXT(openat)(folder, path, flags, mode);
    enum verdict verdict;
    int result = go(&verdict) ? NEXT(openat)(folder, path, flags, mode) : -1;
    return done(verdict, result, makes ? "create" : "truncate", inode_of(result), 0, nameless ? "" : name, "");
}

/* The mode that a caller of open() gave, which is there only if it can matter. */
#define WITH_MODE(call)                                                                                               \
    {                                                                                                                 \
        mode_t mode = 0;                                                                                              \
        if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {                                                    \
            va_list more;                                                                                             \
            va_start(more, flags);                                                                                    \
            mode = va_arg(more, mode_t);                                                                              \
            va_end(more);                                                                                             \
        }                                                                                                             \
        return call;                                                                                                  \
    }

int open(const char *path, int flags, ...) WITH_MODE(open_counted(AT_FDCWD, path, flags, mode))
int open64(const char *path, int flags, ...) WITH_MODE(open_counted(AT_FDCWD, path, flags, mode))
int openat(int folder, const char *path, int flags, ...) WITH_MODE(open_counted(folder, path, flags, mode))
int openat64(int folder, const char *path, int flags, ...) WITH_MODE(open_counted(folder, path, flags, mode))
int creat(const char *path, mode_t mode) { return open_counted(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_counted(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
