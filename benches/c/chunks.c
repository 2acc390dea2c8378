#include "chunks.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    if (memory == NULL)
        die("no memory");
    return memory;
}

/* The first element of a selection that is one regular block, as every mapping of a version is. */
static void first_element(hid_t space, hsize_t *start)
{
    hsize_t end[MAX_RANK];
    if (H5Sget_select_bounds(space, start, end) < 0)
        die("a mapping has no bounds");
    H5Sclose(space);
}

static uint64_t grid_position(const struct chunks *chunks, const hsize_t *start)
{
    uint64_t position = 0;
    for (int axis = 0; axis < chunks->rank; axis++)
        position = position * chunks->grid_shape[axis] + start[axis] / chunks->chunk_shape[axis];
    return position;
}

static void read_mapping_list(struct chunks *chunks, hid_t virtual_dataset)
{
    hid_t created = H5Dget_create_plist(virtual_dataset);
    size_t n;
    if (H5Pget_virtual_count(created, &n) < 0)
        die("no mapping list");
    for (size_t i = 0; i < n; i++) {
        hsize_t start[MAX_RANK], raw_start[MAX_RANK];
        first_element(H5Pget_virtual_vspace(created, i), start);
        first_element(H5Pget_virtual_srcspace(created, i), raw_start);
        chunks->raw_chunks[grid_position(chunks, start)] = (int64_t)(raw_start[0] / chunks->chunk_shape[0]);
    }
    H5Pclose(created);
}

/* Cuts `start + step * k` at the chunk borders of one axis. */
static void cut_strided(struct chunks *chunks, int axis, const struct axis_selection *selection)
{
    uint64_t size = chunks->chunk_shape[axis], n = 0;
    struct axis_part *parts = allocate(selection->count, sizeof *parts);
    for (uint64_t done = 0; done < selection->count;) {
        uint64_t first = selection->start + done * selection->step, start = first % size;
        uint64_t count = (size - start + selection->step - 1) / selection->step;
        if (count > selection->count - done)
            count = selection->count - done;
        parts[n++] = (struct axis_part){.chunk = first / size, .start = start, .count = count, .target = done};
        done += count;
    }
    chunks->step[axis] = selection->step;
    chunks->result_shape[axis] = selection->count;
    chunks->parts[axis] = parts;
    chunks->n_parts[axis] = n;
}

static int compare_picks(const void *left, const void *right)
{
    const struct pick *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* Sorts the indices of the only axis and cuts them at the chunk borders. */
static void cut_indices(struct chunks *chunks, const uint64_t *indices, size_t count)
{
    uint64_t size = chunks->chunk_shape[0], n = 0;
    struct pick *picks = allocate(count, sizeof *picks);
    struct axis_part *parts = allocate(chunks->grid_shape[0], sizeof *parts);
    int sorted = 1;
    for (size_t i = 0; i < count; i++) {
        picks[i] = (struct pick){.index = indices[i], .target = i};
        sorted = sorted && (i == 0 || indices[i - 1] <= indices[i]);
    }
    if (!sorted)
        qsort(picks, count, sizeof *picks, compare_picks);
    for (size_t i = 0; i < count; parts[n - 1].count++, i++)
        if (n == 0 || parts[n - 1].chunk != picks[i].index / size)
            parts[n++] = (struct axis_part){.chunk = picks[i].index / size, .picks = &picks[i]};
    chunks->step[0] = 1;
    chunks->result_shape[0] = count;
    chunks->parts[0] = parts;
    chunks->n_parts[0] = n;
    chunks->picks = picks;
}

struct chunks chunks_open(hid_t file, hid_t access, const struct row *row)
{
    struct chunks chunks = {.raw = H5Dopen2(file, row->raw_dataset, access), .n_transfers = 1};
    hid_t virtual_dataset = H5Dopen2(file, row->virtual_dataset, H5P_DEFAULT);
    if (chunks.raw < 0 || virtual_dataset < 0)
        die("cannot open %s and %s", row->virtual_dataset, row->raw_dataset);

    hsize_t shape[MAX_RANK], chunk_shape[MAX_RANK];
    hid_t space = H5Dget_space(virtual_dataset), type = H5Dget_type(chunks.raw), created = H5Dget_create_plist(chunks.raw);
    chunks.rank = H5Sget_simple_extent_dims(space, shape, NULL);
    if (H5Pget_chunk(created, MAX_RANK, chunk_shape) != chunks.rank)
        die("%s is not chunked like the version", row->raw_dataset);
    chunks.element_bytes = H5Tget_size(type);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(created);

    size_t n_chunks = 1;
    for (int axis = 0; axis < chunks.rank; axis++) {
        chunks.chunk_shape[axis] = chunk_shape[axis];
        chunks.grid_shape[axis] = (shape[axis] + chunk_shape[axis] - 1) / chunk_shape[axis];
        n_chunks *= chunks.grid_shape[axis];
    }
    chunks.raw_chunks = allocate(n_chunks, sizeof *chunks.raw_chunks);
    for (size_t i = 0; i < n_chunks; i++)
        chunks.raw_chunks[i] = NO_CHUNK;
    read_mapping_list(&chunks, virtual_dataset);
    H5Dclose(virtual_dataset);

    if (chunks.rank != (row->indices != NULL ? 1 : row->rank))
        die("the selection has another rank than %s", row->virtual_dataset);
    for (int axis = 0; axis < chunks.rank; axis++) {
        if (row->indices != NULL)
            cut_indices(&chunks, row->indices, row->n_indices);
        else
            cut_strided(&chunks, axis, &row->select[axis]);
        chunks.n_transfers *= chunks.n_parts[axis];
    }
    return chunks;
}

void chunks_close(struct chunks *chunks)
{
    H5Dclose(chunks->raw);
    for (int axis = 0; axis < chunks->rank; axis++)
        free(chunks->parts[axis]);
    free(chunks->picks);
    free(chunks->raw_chunks);
}

struct transfer chunks_transfer(const struct chunks *chunks, uint64_t number)
{
    struct transfer transfer;
    uint64_t position = 0, weight = 1;
    for (int axis = chunks->rank - 1; axis >= 0; axis--) {
        transfer.axis[axis] = &chunks->parts[axis][number % chunks->n_parts[axis]];
        number /= chunks->n_parts[axis];
        position += transfer.axis[axis]->chunk * weight;
        weight *= chunks->grid_shape[axis];
    }
    transfer.raw_chunk = chunks->raw_chunks[position];
    return transfer;
}

size_t chunks_result_bytes(const struct chunks *chunks)
{
    size_t bytes = chunks->element_bytes;
    for (int axis = 0; axis < chunks->rank; axis++)
        bytes *= chunks->result_shape[axis];
    return bytes;
}

size_t chunks_chunk_bytes(const struct chunks *chunks)
{
    size_t bytes = chunks->element_bytes;
    for (int axis = 0; axis < chunks->rank; axis++)
        bytes *= chunks->chunk_shape[axis];
    return bytes;
}

/* A copy of `count` by axis, strides in bytes. */
struct copy {
    int rank;
    size_t element_bytes;
    uint64_t count[MAX_RANK], source_stride[MAX_RANK], target_stride[MAX_RANK];
};

static void copy_strided(const struct copy *copy, int axis, const char *source, char *target)
{
    uint64_t count = copy->count[axis], from = copy->source_stride[axis], to = copy->target_stride[axis];
    if (axis + 1 < copy->rank) {
        for (uint64_t i = 0; i < count; i++)
            copy_strided(copy, axis + 1, source + i * from, target + i * to);
    } else if (from == copy->element_bytes && to == copy->element_bytes) {
        memcpy(target, source, count * copy->element_bytes);
    } else if (copy->element_bytes == 8) { /* a copy of known length is one move */
        for (uint64_t i = 0; i < count; i++)
            memcpy(target + i * to, source + i * from, 8);
    } else {
        for (uint64_t i = 0; i < count; i++)
            memcpy(target + i * to, source + i * from, copy->element_bytes);
    }
}

/* Copies from a box of `box` elements by axis, of which the transfer wants every `step`th from `start`. */
static void scatter_from(const struct chunks *chunks, const struct transfer *transfer, const uint64_t *box,
                         const uint64_t *start, const uint64_t *step, const char *source, char *result)
{
    struct copy copy = {.rank = chunks->rank, .element_bytes = chunks->element_bytes};
    uint64_t source_stride = chunks->element_bytes, target_stride = chunks->element_bytes;
    for (int axis = chunks->rank - 1; axis >= 0; axis--) {
        const struct axis_part *part = transfer->axis[axis];
        copy.count[axis] = part->count;
        copy.source_stride[axis] = source_stride * step[axis];
        copy.target_stride[axis] = target_stride;
        source += source_stride * start[axis];
        result += target_stride * part->target;
        source_stride *= box[axis];
        target_stride *= chunks->result_shape[axis];
    }
    copy_strided(&copy, 0, source, result);
}

void chunks_scatter(const struct chunks *chunks, const struct transfer *transfer, const char *chunk, char *result)
{
    const struct axis_part *first = transfer->axis[0];
    if (first->picks != NULL) {
        size_t bytes = chunks->element_bytes;
        for (uint64_t i = 0; i < first->count; i++) {
            const struct pick *pick = &first->picks[i];
            memcpy(result + pick->target * bytes, chunk + pick->index % chunks->chunk_shape[0] * bytes, bytes);
        }
        return;
    }
    uint64_t start[MAX_RANK];
    for (int axis = 0; axis < chunks->rank; axis++)
        start[axis] = transfer->axis[axis]->start;
    scatter_from(chunks, transfer, chunks->chunk_shape, start, chunks->step, chunk, result);
}

void chunks_scatter_dense(const struct chunks *chunks, const struct transfer *transfer, const char *dense, char *result)
{
    uint64_t box[MAX_RANK], start[MAX_RANK] = {0}, step[MAX_RANK];
    for (int axis = 0; axis < chunks->rank; axis++) {
        box[axis] = transfer->axis[axis]->count;
        step[axis] = 1;
    }
    scatter_from(chunks, transfer, box, start, step, dense, result);
}
