/* What the baseline programs share: the row on the command line, fresh result buffers, checksum, and the loop
 * that runs a row once for each line on standard input. */
#ifndef H5STRATA_BENCH_H
#define H5STRATA_BENCH_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_RANK = 8 };

/* Elements `start`, `start + step`, ... of an axis, `count` of them. */
struct axis_selection {
    uint64_t start, step, count;
};

/* One row of the comparison, as given on the command line. */
struct row {
    const char *file;
    const char *out;             /* the file to write, where another is read */
    const char *virtual_dataset; /* path of the version's virtual dataset */
    const char *raw_dataset;     /* path of its raw_data */
    int rank;                    /* axes in `select` */
    struct axis_selection select[MAX_RANK];
    uint64_t *indices; /* instead of `select`, for one axis: element indices, unsorted, repeats allowed */
    size_t n_indices;
    const char *plan;   /* file of byte ranges, see plan.h */
    const char *values; /* .npy file of what is written */
    int commits;        /* versions after the first */
    uint64_t bytes;     /* size of the result, for programs that know no dataset */
    uint64_t piece;     /* bytes that are written in one go */
    int uncached;       /* without libhdf5's chunk cache and sieve buffer */
    int threads;
};

/* A result in memory that nobody has touched before. */
struct result {
    void *data;
    size_t bytes;
};

/* Reads `--name value` pairs; ends the program with a message where one is unknown or wrong. */
struct row row_from_arguments(int argc, char **argv);

/* Zero-filled memory of its own, advised for huge pages: what a careful program would read into. */
struct result result_alloc(size_t bytes);

/* Memory from malloc whose words are 1, so that the checksum of n of them is known: n squared. */
char *words_of_one(uint64_t bytes);

/* Seconds of a clock that never goes back. */
double now(void);

/* Reads a whole file into memory from malloc. */
void *read_file(const char *path, size_t *bytes);

/* Waits until what was written to a file is on the disk. */
void sync_file(const char *path);

/* Ends the program, naming what failed. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For each line on standard input: runs the row once, prints {"seconds": ..., "checksum": "..."}, frees the result.
 * Only `run` is timed. */
int serve(const struct row *row, struct result (*run)(const struct row *));

#endif
