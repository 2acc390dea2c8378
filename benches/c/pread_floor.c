/* Floor: preads exactly the byte ranges that hold the wanted elements, known beforehand, and puts them in place.
 * Options: --file, --plan, --threads. */
#define _GNU_SOURCE
#include "bench.h"
#include "plan.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct plan_header *header;
static const struct plan_range *ranges;
static const struct plan_segment *segments;
static uint64_t longest_range;

/* A share of the ranges, for one thread. */
struct share {
    int file;
    char *result;
    uint64_t first, last;
};

static void pread_all(int file, char *target, uint64_t bytes, uint64_t address)
{
    while (bytes > 0) {
        ssize_t n = pread(file, target, bytes, (off_t)address);
        if (n <= 0)
            die("pread of %zu bytes at %zu failed", (size_t)bytes, (size_t)address);
        target += n;
        address += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
}

static void *read_share(void *argument)
{
    const struct share *share = argument;
    char *scratch = malloc(longest_range);
    if (scratch == NULL)
        die("no memory");
    for (const struct plan_range *range = ranges + share->first; range < ranges + share->last; range++) {
        const struct plan_segment *segment = segments + range->first_segment;
        if (range->n_segments == 1) {
            pread_all(share->file, share->result + segment->target, range->length, range->address);
            continue;
        }
        pread_all(share->file, scratch, range->length, range->address);
        for (const struct plan_segment *end = segment + range->n_segments; segment < end; segment++) {
            /* Single elements are the common case, and a copy of known length is one move. */
            if (segment->length == 8)
                memcpy(share->result + segment->target, scratch + segment->source, 8);
            else
                memcpy(share->result + segment->target, scratch + segment->source, segment->length);
        }
    }
    free(scratch);
    return NULL;
}

static struct result run(const struct row *row)
{
    int file = open(row->file, O_RDONLY);
    if (file < 0)
        die("cannot open %s", row->file);
    struct result result = result_alloc(header->result_bytes);
    size_t n = (size_t)row->threads;
    struct share shares[n];
    pthread_t threads[n];
    for (size_t i = 0; i < n; i++) {
        shares[i] = (struct share){file, result.data, header->n_ranges * i / n, header->n_ranges * (i + 1) / n};
        if (i > 0 && pthread_create(&threads[i], NULL, read_share, &shares[i]) != 0)
            die("cannot start a thread");
    }
    read_share(&shares[0]);
    for (size_t i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    close(file);
    return result;
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.plan == NULL || row.threads < 1)
        die("--file and --plan are needed, and one thread at least");
    size_t bytes;
    const char *plan = read_file(row.plan, &bytes);
    header = (const struct plan_header *)plan;
    ranges = (const struct plan_range *)(header + 1);
    segments = (const struct plan_segment *)(ranges + header->n_ranges);
    if ((const char *)(segments + header->n_segments) != plan + bytes)
        die("%s: not a plan", row.plan);
    for (uint64_t i = 0; i < header->n_ranges; i++)
        if (ranges[i].length > longest_range)
            longest_range = ranges[i].length;
    return serve(&row, run);
}
