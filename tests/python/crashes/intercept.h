/* A library for LD_PRELOAD that counts the calls by which a process changes files below one folder, and stops the
 * process at one of them, makes it fail, or records them all.
 *
 * The environment says what to do:
 *
 *   INTERCEPT_FOLDER  absolute path of the folder that is watched; without it nothing is
 *   INTERCEPT_MODE    record  append every call to the file INTERCEPT_LOG
 *                     kill    SIGKILL before call INTERCEPT_CALL (from 0)
 *                     half    write half of the bytes of that call, then SIGKILL
 *                     error   that call fails with the error INTERCEPT_ERRNO
 *                     sticky  that call and all later ones fail; if it writes it first writes half, as full disks do
 *
 * A record is a line of six fields parted by tabs, and the bytes where it is a write:
 *
 *   kind, inode, offset, length, name, other name
 *
 * Names are relative to the folder, "" is the folder itself. Kinds: write (offset, length, bytes), truncate (offset is
 * the new size), sync (of a file, or of the folder), create, link (name is the new one), rename (from name to other
 * name), unlink, mkdir, rmdir, and none for what failed or changed nothing that outlives the process. */
#ifndef INTERCEPT_H
#define INTERCEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum verdict { GO, HALF, FAIL, SHORT };

/* Whether a path, or what a descriptor stands for, is below the watched folder; `name` (PATH_MAX bytes) gets its
 * relative path. Both keep errno. */
bool watched_path(int folder, const char *path, char *name);
bool watched_descriptor(int descriptor, char *name);

/* Begins a counted call, which writes so many bytes, alone among all threads: what is to become of it. May not
 * return. */
enum verdict begin_call(size_t bytes);

/* Ends a counted call, with what is to be recorded of it. Keeps errno. */
void end_call(const char *kind, ino_t inode, off_t offset, size_t length, const void *bytes, const char *name,
              const char *other);

/* The inode of a descriptor, or of a path without following it; 0 if there is none. Both keep errno. */
ino_t inode_of(int descriptor);
ino_t inode_at(int folder, const char *path);

/* Ends the process as the kernel would. */
void die(void) __attribute__((noreturn));

/* The function that this library stands before. */
void *original(const char *name);

#endif
