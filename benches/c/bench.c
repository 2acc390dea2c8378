#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

static uint64_t parse_number(const char *text, const char **rest)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text)
        die("not a number: %s", text);
    *rest = end;
    return value;
}

static uint64_t parse_whole_number(const char *text)
{
    const char *rest;
    uint64_t value = parse_number(text, &rest);
    if (*rest != '\0')
        die("not a number: %s", text);
    return value;
}

/* Parses `start:step:count` by axis, separated by commas. */
static void parse_select(struct row *row, const char *text)
{
    for (row->rank = 0; row->rank < MAX_RANK; row->rank++) {
        struct axis_selection *axis = &row->select[row->rank];
        axis->start = parse_number(text, &text);
        if (*text++ != ':')
            die("--select wants start:step:count");
        axis->step = parse_number(text, &text);
        if (*text++ != ':')
            die("--select wants start:step:count");
        axis->count = parse_number(text, &text);
        if (*text == '\0') {
            row->rank++;
            return;
        }
        if (*text++ != ',')
            die("--select wants its axes separated by commas");
    }
    die("--select has more than %d axes", MAX_RANK);
}

struct row row_from_arguments(int argc, char **argv)
{
    struct row row = {.threads = 1};
    if (argc % 2 != 1)
        die("usage: %s [--name value]...", argv[0]);
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        size_t bytes;
        if (strcmp(name, "--file") == 0)
            row.file = value;
        else if (strcmp(name, "--out") == 0)
            row.out = value;
        else if (strcmp(name, "--virtual") == 0)
            row.virtual_dataset = value;
        else if (strcmp(name, "--raw") == 0)
            row.raw_dataset = value;
        else if (strcmp(name, "--select") == 0)
            parse_select(&row, value);
        else if (strcmp(name, "--indices") == 0) {
            row.indices = read_file(value, &bytes);
            row.n_indices = bytes / sizeof *row.indices;
        } else if (strcmp(name, "--plan") == 0)
            row.plan = value;
        else if (strcmp(name, "--bytes") == 0)
            row.bytes = parse_whole_number(value);
        else if (strcmp(name, "--piece") == 0)
            row.piece = parse_whole_number(value);
        else if (strcmp(name, "--values") == 0)
            row.values = value;
        else if (strcmp(name, "--commits") == 0)
            row.commits = (int)parse_whole_number(value);
        else if (strcmp(name, "--uncached") == 0)
            row.uncached = (int)parse_whole_number(value);
        else if (strcmp(name, "--threads") == 0)
            row.threads = (int)parse_whole_number(value);
        else
            die("unknown option %s", name);
    }
    return row;
}

/* The length that is really mapped: whole pages, one at least. */
static size_t mapped_length(size_t bytes)
{
    const size_t page = 4096;
    return (bytes + page) / page * page;
}

struct result result_alloc(size_t bytes)
{
    void *data = mmap(NULL, mapped_length(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        die("no memory for a result of %zu bytes", bytes);
    madvise(data, mapped_length(bytes), MADV_HUGEPAGE); /* advice only: refused where the kernel has none */
    return (struct result){data, bytes};
}

char *words_of_one(uint64_t bytes)
{
    char *words = malloc(bytes + 1);
    if (words == NULL)
        die("no memory");
    const uint64_t one = 1;
    memset(words, 0, bytes);
    for (uint64_t at = 0; at + sizeof one <= bytes; at += sizeof one)
        memcpy(words + at, &one, sizeof one);
    return words;
}

void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die("cannot read %s", path);
    long size = ftell(file);
    rewind(file);
    void *data = size < 0 ? NULL : malloc((size_t)size + 1);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size)
        die("cannot read %s", path);
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

void sync_file(const char *path)
{
    int file = open(path, O_RDWR);
    if (file < 0 || fsync(file) != 0)
        die("cannot sync %s", path);
    close(file);
}

/* Sum of word i times (2 i + 1), modulo 2^64, over the little-endian 8-byte words, the last padded with zeros. */
static uint64_t checksum(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = 0, factor = 1, word;
    for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word, factor += 2) {
        memcpy(&word, at, sizeof word);
        sum += word * factor;
    }
    word = 0;
    memcpy(&word, at, bytes);
    return sum + word * factor;
}

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int serve(const struct row *row, struct result (*run)(const struct row *))
{
    for (int c; (c = getchar()) != EOF;) {
        if (c != '\n')
            continue;
        double start = now();
        struct result result = run(row);
        double seconds = now() - start;
        printf("{\"seconds\": %.9f, \"checksum\": \"%016" PRIx64 "\"}\n", seconds, checksum(result.data, result.bytes));
        fflush(stdout);
        munmap(result.data, mapped_length(result.bytes));
    }
    return 0;
}
