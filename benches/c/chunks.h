/* A version's chunks as a C program finds them through libhdf5, and the part of each that a row selects. */
#ifndef H5STRATA_CHUNKS_H
#define H5STRATA_CHUNKS_H

#include "bench.h"

#include <hdf5.h>

enum { NO_CHUNK = -1 }; /* a chunk without a mapping: all fill value, which is zero in every row */

/* One index of a row that selects by index: which element of the axis, and where in the result it goes. */
struct pick {
    uint64_t index, target;
};

/* The part of an axis that lies in one chunk: `count` elements from `start` in the chunk, to `target` in the result.
 * Where the axis is selected by index: `count` picks from `picks`. */
struct axis_part {
    uint64_t chunk, start, count, target;
    const struct pick *picks;
};

/* The chunk grid of one version, and the row's selection cut at its lines. */
struct chunks {
    hid_t raw;            /* open dataset raw_data */
    size_t element_bytes; /* of the values in memory, which are those of the file */
    int rank;
    uint64_t chunk_shape[MAX_RANK], grid_shape[MAX_RANK];
    int64_t *raw_chunks; /* by position in the grid, C order */
    uint64_t step[MAX_RANK], result_shape[MAX_RANK];
    struct axis_part *parts[MAX_RANK];
    uint64_t n_parts[MAX_RANK];
    struct pick *picks;
    uint64_t n_transfers; /* product of n_parts */
};

/* What one chunk gives to the result: a part of each axis. */
struct transfer {
    int64_t raw_chunk; /* chunk (raw_chunk, 0, 0, ...) of raw_data, or NO_CHUNK */
    const struct axis_part *axis[MAX_RANK];
};

/* Opens both datasets, reads the mapping list with H5Pget_virtual_*, and cuts the selection. `access` is the dataset
 * access property list for raw_data. */
struct chunks chunks_open(hid_t file, hid_t access, const struct row *row);

void chunks_close(struct chunks *chunks);

/* The transfer of this number, chunks in C order of the grid. */
struct transfer chunks_transfer(const struct chunks *chunks, uint64_t number);

/* The size of the whole result in bytes. */
size_t chunks_result_bytes(const struct chunks *chunks);

/* The size of one whole chunk in bytes, without filters. */
size_t chunks_chunk_bytes(const struct chunks *chunks);

/* Copies the selected elements of a whole chunk into place. */
void chunks_scatter(const struct chunks *chunks, const struct transfer *transfer, const char *chunk, char *result);

/* The same from a buffer that holds only the selected elements, densely in C order. */
void chunks_scatter_dense(const struct chunks *chunks, const struct transfer *transfer, const char *dense, char *result);

#endif
