/* H5Dread of the selected part of each chunk from raw_data, found through the mapping list.
 *
 * Into dense scratch and from there into place: the fastest way through H5Dread. Where little of each chunk is wanted,
 * libhdf5 must also be kept from reading whole chunks: --uncached 1.
 * Options: --file, --virtual, --raw, --select, --uncached. */
#include "bench.h"
#include "chunks.h"

#include <stdlib.h>

static void read_transfer(const struct chunks *chunks, const struct transfer *transfer, hid_t type, hid_t space,
                          char *scratch, char *result)
{
    hsize_t start[MAX_RANK], step[MAX_RANK], count[MAX_RANK];
    for (int axis = 0; axis < chunks->rank; axis++) {
        start[axis] = transfer->axis[axis]->start;
        step[axis] = chunks->step[axis];
        count[axis] = transfer->axis[axis]->count;
    }
    start[0] += (hsize_t)transfer->raw_chunk * chunks->chunk_shape[0];
    /* Of the selection's own rank: libhdf5 is several times slower between different ranks. */
    hid_t memory = H5Screate_simple(chunks->rank, count, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, NULL) < 0 ||
        H5Dread(chunks->raw, type, memory, space, H5P_DEFAULT, scratch) < 0)
        die("cannot read raw chunk %lld", (long long)transfer->raw_chunk);
    H5Sclose(memory);
    chunks_scatter_dense(chunks, transfer, scratch, result);
}

static struct result run(const struct row *row)
{
    hid_t file_access = H5Pcreate(H5P_FILE_ACCESS), dataset_access = H5Pcreate(H5P_DATASET_ACCESS);
    if (row->uncached) {
        H5Pset_sieve_buf_size(file_access, 0);
        H5Pset_chunk_cache(dataset_access, 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT);
    }
    hid_t file = H5Fopen(row->file, H5F_ACC_RDONLY, file_access);
    if (file < 0)
        die("cannot open %s", row->file);
    struct chunks chunks = chunks_open(file, dataset_access, row);
    struct result result = result_alloc(chunks_result_bytes(&chunks));
    char *scratch = malloc(chunks_chunk_bytes(&chunks));
    hid_t type = H5Dget_type(chunks.raw), space = H5Dget_space(chunks.raw);
    if (scratch == NULL)
        die("no memory");
    for (uint64_t i = 0; i < chunks.n_transfers; i++) {
        struct transfer transfer = chunks_transfer(&chunks, i);
        if (transfer.raw_chunk != NO_CHUNK)
            read_transfer(&chunks, &transfer, type, space, scratch, result.data);
    }
    H5Sclose(space);
    H5Tclose(type);
    free(scratch);
    chunks_close(&chunks);
    H5Fclose(file);
    H5Pclose(dataset_access);
    H5Pclose(file_access);
    return result;
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.virtual_dataset == NULL || row.raw_dataset == NULL || row.rank == 0)
        die("--file, --virtual, --raw and --select are needed");
    return serve(&row, run);
}
