/* The versions of a dataset whose halves change in turn, each made as a commit makes it, but through libhdf5's own file
 * driver, and put on the disk by one fsync: no version survives what stops the program between.
 *
 * What a commit of h5strata writes is written here too: chunks by H5Dwrite_chunk, their rows of the hash table, the
 * version's group with its attributes, and a virtual dataset with a mapping a chunk. The hash table has no filter, and
 * no digests are made: the first bytes of a chunk stand in their place.
 * Options: --file, --values (.npy, 8-byte integers), --bytes of the dataset, --piece (bytes of a chunk), --commits. */
#include "bench.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATASET "data"
#define STORAGE "/_version_data/" DATASET
#define RAW_DATA STORAGE "/raw_data"
#define HASH_TABLE STORAGE "/hash_table"
#define VERSIONS "/_version_data/versions"

enum { DIGEST = 32, TABLE_CHUNK = 4096, NAME = 32 };

/* A row of the hash table. */
struct row_of_chunk {
    unsigned char digest[DIGEST];
    int64_t start, stop;
};

/* What all versions have in common, and where the chunks of the current one are. */
struct series {
    const char *path;
    const int64_t *values;
    hsize_t chunk, chunks; /* elements of a chunk, chunks of the dataset */
    hsize_t stored;        /* chunks of raw_data */
    hsize_t *map;          /* by chunk of the dataset, its chunk of raw_data */
    int64_t *written;      /* what a version writes */
};

static hid_t valid(hid_t id, const char *what)
{
    if (id < 0)
        die("%s failed", what);
    return id;
}

static void check(herr_t status, const char *what)
{
    valid(status, what);
}

static hid_t string_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    check(H5Tset_size(type, H5T_VARIABLE), "H5Tset_size");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "H5Tset_cset");
    return type;
}

/* Writes an attribute, which is made if it is not there. */
static void set_attribute(hid_t object, const char *name, hid_t type, hid_t space, const void *value)
{
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT)
                                                  : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(valid(attribute, name), type, value), name);
    H5Aclose(attribute);
}

static void set_text(hid_t object, const char *name, const char *text)
{
    hid_t type = string_type(), space = H5Screate(H5S_SCALAR);
    set_attribute(object, name, type, space, &text);
    H5Sclose(space);
    H5Tclose(type);
}

static void set_integer(hid_t object, const char *name, int64_t value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    set_attribute(object, name, H5T_NATIVE_INT64, space, &value);
    H5Sclose(space);
}

static void set_committed(hid_t group)
{
    const signed char no = 0, yes = 1;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8), space = H5Screate(H5S_SCALAR);
    check(H5Tenum_insert(type, "FALSE", &no), "H5Tenum_insert");
    check(H5Tenum_insert(type, "TRUE", &yes), "H5Tenum_insert");
    set_attribute(group, "committed", type, space, &yes);
    H5Sclose(space);
    H5Tclose(type);
}

static hid_t row_type(void)
{
    const hsize_t bytes = DIGEST, two = 2;
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct row_of_chunk));
    hid_t digest = H5Tarray_create2(H5T_NATIVE_UINT8, 1, &bytes), range = H5Tarray_create2(H5T_NATIVE_INT64, 1, &two);
    check(H5Tinsert(type, "hash", HOFFSET(struct row_of_chunk, digest), digest), "H5Tinsert");
    check(H5Tinsert(type, "shape", HOFFSET(struct row_of_chunk, start), range), "H5Tinsert");
    H5Tclose(digest);
    H5Tclose(range);
    return type;
}

/* An empty dataset of one axis that can grow. */
static void create_growing(hid_t file, const char *path, hid_t type, hsize_t chunk)
{
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &none, &unlimited), created = H5Pcreate(H5P_DATASET_CREATE);
    hid_t linked = H5Pcreate(H5P_LINK_CREATE);
    check(H5Pset_create_intermediate_group(linked, 1), "H5Pset_create_intermediate_group");
    check(H5Pset_chunk(created, 1, &chunk), "H5Pset_chunk");
    H5Dclose(valid(H5Dcreate2(file, path, type, space, linked, created, H5P_DEFAULT), path));
    H5Pclose(linked);
    H5Pclose(created);
    H5Sclose(space);
}

static void create_storage(hid_t file, const struct series *series)
{
    hid_t type = row_type();
    create_growing(file, RAW_DATA, H5T_NATIVE_INT64, series->chunk);
    create_growing(file, HASH_TABLE, type, TABLE_CHUNK);
    H5Gclose(valid(H5Gcreate2(file, VERSIONS, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), VERSIONS));
    H5Tclose(type);
}

/* Stores `count` chunks behind those that are there, which hold the dataset's chunks from `first` on from now on. */
static void store_chunks(hid_t file, struct series *series, hsize_t first, hsize_t count)
{
    const hsize_t size = (series->stored + count) * series->chunk;
    hid_t raw = valid(H5Dopen2(file, RAW_DATA, H5P_DEFAULT), RAW_DATA);
    check(H5Dset_extent(raw, &size), "H5Dset_extent");
    for (hsize_t i = 0; i < count; i++) {
        const hsize_t offset = (series->stored + i) * series->chunk;
        const int64_t *values = series->written + i * series->chunk;
        check(H5Dwrite_chunk(raw, H5P_DEFAULT, 0, &offset, series->chunk * sizeof *values, values), "H5Dwrite_chunk");
        series->map[first + i] = series->stored + i;
    }
    H5Dclose(raw);
}

static void store_rows(hid_t file, const struct series *series, hsize_t count)
{
    const hsize_t size = series->stored + count;
    struct row_of_chunk *rows = calloc(count, sizeof *rows);
    if (rows == NULL)
        die("no memory");
    for (hsize_t i = 0; i < count; i++) {
        memcpy(rows[i].digest, series->written + i * series->chunk, DIGEST);
        rows[i].start = (int64_t)((series->stored + i) * series->chunk);
        rows[i].stop = rows[i].start + (int64_t)series->chunk;
    }
    hid_t table = valid(H5Dopen2(file, HASH_TABLE, H5P_DEFAULT), HASH_TABLE), type = row_type();
    check(H5Dset_extent(table, &size), "H5Dset_extent");
    hid_t space = H5Dget_space(table), memory = H5Screate_simple(1, &count, NULL);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &series->stored, NULL, &count, NULL), "H5Sselect_hyperslab");
    check(H5Dwrite(table, type, memory, space, H5P_DEFAULT, rows), "H5Dwrite");
    set_integer(table, "largest_index", (int64_t)size);
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(table);
    free(rows);
}

static hid_t mappings(const struct series *series)
{
    const hsize_t shape = series->chunks * series->chunk, raw_shape = series->stored * series->chunk, one = 1;
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(1, &shape, NULL), raw = H5Screate_simple(1, &raw_shape, NULL);
    for (hsize_t i = 0; i < series->chunks; i++) {
        const hsize_t start = i * series->chunk, raw_start = series->map[i] * series->chunk;
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, &series->chunk), "H5Sselect_hyperslab");
        check(H5Sselect_hyperslab(raw, H5S_SELECT_SET, &raw_start, NULL, &one, &series->chunk), "H5Sselect_hyperslab");
        check(H5Pset_virtual(created, space, ".", RAW_DATA, raw), "H5Pset_virtual");
    }
    H5Sclose(raw);
    H5Sclose(space);
    return created;
}

static void create_version(hid_t file, const struct series *series, const char *name, const char *previous)
{
    const hsize_t shape = series->chunks * series->chunk, one = 1;
    const int64_t chunk = (int64_t)series->chunk;
    hid_t versions = valid(H5Gopen2(file, VERSIONS, H5P_DEFAULT), VERSIONS);
    hid_t group = valid(H5Gcreate2(versions, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
    set_text(group, "prev_version", previous);
    set_text(group, "timestamp", "2026-01-01 00:00:00.000000+0000");
    set_committed(group);

    hid_t created = mappings(series), space = H5Screate_simple(1, &shape, NULL), axes = H5Screate_simple(1, &one, NULL);
    hid_t dataset = H5Dcreate2(group, DATASET, H5T_NATIVE_INT64, space, H5P_DEFAULT, created, H5P_DEFAULT);
    set_text(valid(dataset, "H5Dcreate2"), "raw_data", RAW_DATA);
    set_attribute(dataset, "chunks", H5T_NATIVE_INT64, axes, &chunk);
    set_text(versions, "current_version", name);
    H5Dclose(dataset);
    H5Sclose(axes);
    H5Sclose(space);
    H5Pclose(created);
    H5Gclose(group);
    H5Gclose(versions);
}

/* Makes a version and gives its seconds: of the first all chunks are new, of the others those of one half. */
static double commit(struct series *series, int number)
{
    const hsize_t half = series->chunks / 2;
    const hsize_t first = number == 0 || number % 2 == 1 ? 0 : half;
    const hsize_t count = number == 0 ? series->chunks : number % 2 == 1 ? half : series->chunks - half;
    char name[NAME], previous[NAME] = "";
    snprintf(name, sizeof name, "v%d", number);
    if (number > 0)
        snprintf(previous, sizeof previous, "v%d", number - 1);
    for (hsize_t i = 0; i < count * series->chunk; i++)
        series->written[i] = series->values[first * series->chunk + i] + number;

    double start = now();
    hid_t file = number == 0 ? H5Fcreate(series->path, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT)
                             : H5Fopen(series->path, H5F_ACC_RDWR, H5P_DEFAULT);
    valid(file, series->path);
    if (number == 0)
        create_storage(file, series);
    store_chunks(file, series, first, count);
    store_rows(file, series, count);
    series->stored += count;
    create_version(file, series, name, previous);
    check(H5Fclose(file), "H5Fclose");
    sync_file(series->path);
    return now() - start;
}

static void run(struct series *series, int commits)
{
    double all = 0;
    series->stored = 0;
    printf("{\"steps\": [");
    for (int number = 0; number <= commits; number++) {
        double seconds = commit(series, number);
        printf("%s%.9f", number == 0 ? "" : ", ", seconds);
        all += seconds;
    }
    printf("], \"seconds\": %.9f}\n", all);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.values == NULL || row.bytes == 0 || row.piece < DIGEST)
        die("--file, --values, --bytes and --piece are needed");
    size_t bytes;
    char *npy = read_file(row.values, &bytes);
    if (bytes < row.bytes)
        die("%s is too short", row.values);
    struct series series = {
        .path = row.file,
        .values = (const int64_t *)(npy + bytes - row.bytes), /* behind a head that is a multiple of 64 bytes */
        .chunk = row.piece / sizeof(int64_t),
        .chunks = row.bytes / row.piece,
        .map = calloc(row.bytes / row.piece, sizeof(hsize_t)),
        .written = malloc(row.bytes),
    };
    if (series.map == NULL || series.written == NULL)
        die("no memory");
    for (int c; (c = getchar()) != EOF;)
        if (c == '\n')
            run(&series, row.commits);
    return 0;
}
