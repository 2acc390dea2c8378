/* Floor: copies as many bytes as the result has into a fresh buffer. Options: --bytes, --threads. */
#define _GNU_SOURCE
#include "bench.h"

#include <pthread.h>
#include <string.h>

struct part {
    char *target;
    const char *source;
    size_t bytes;
};

static char *source;

static void *copy_part(void *argument)
{
    const struct part *part = argument;
    memcpy(part->target, part->source, part->bytes);
    return NULL;
}

static struct result run(const struct row *row)
{
    struct result result = result_alloc(row->bytes);
    size_t n = (size_t)row->threads;
    struct part parts[n];
    pthread_t threads[n];
    for (size_t i = 0; i < n; i++) {
        size_t from = row->bytes / n * i, to = i + 1 == n ? row->bytes : row->bytes / n * (i + 1);
        parts[i] = (struct part){(char *)result.data + from, source + from, to - from};
        if (i > 0 && pthread_create(&threads[i], NULL, copy_part, &parts[i]) != 0)
            die("cannot start a thread");
    }
    copy_part(&parts[0]);
    for (size_t i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    return result;
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.threads < 1)
        die("--threads must be at least 1");
    source = words_of_one(row.bytes);
    return serve(&row, run);
}
