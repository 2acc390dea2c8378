/* H5Dread_chunk of each selected chunk, found through the mapping list; then inflate, unshuffle and put in place.
 *
 * With several threads they take turns at libhdf5 and do the rest in parallel.
 * Options: --file, --virtual, --raw, --select or --indices, --threads. */
#include "bench.h"
#include "chunks.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The filters of raw_data in the order in which they were applied, by position in the filter mask. */
struct pipeline {
    int n;
    H5Z_filter_t filters[H5Z_MAX_NFILTERS];
};

struct job {
    const struct chunks *chunks;
    const struct pipeline *pipeline;
    char *result;
    pthread_mutex_t library;
    uint64_t next; /* transfer; guarded by `library` */
};

static struct pipeline pipeline_of(hid_t dataset)
{
    hid_t created = H5Dget_create_plist(dataset);
    struct pipeline pipeline = {.n = H5Pget_nfilters(created)};
    if (pipeline.n < 0 || pipeline.n > H5Z_MAX_NFILTERS)
        die("unusable filter pipeline");
    for (int i = 0; i < pipeline.n; i++) {
        unsigned flags, config;
        size_t n_values = 0;
        pipeline.filters[i] = H5Pget_filter2(created, (unsigned)i, &flags, &n_values, NULL, 0, NULL, &config);
        if (pipeline.filters[i] != H5Z_FILTER_DEFLATE && pipeline.filters[i] != H5Z_FILTER_SHUFFLE)
            die("filter %d is not known here", pipeline.filters[i]);
    }
    H5Pclose(created);
    return pipeline;
}

/* Byte b of element i stands at b * n + i in the source. */
static void unshuffle(const char *restrict source, char *restrict target, size_t bytes, size_t element)
{
    size_t n = bytes / element, i = 0;
#ifdef __SSE2__
    /* Eight planes of sixteen bytes at a time: three rounds of interleaving make sixteen elements of them. */
    for (; element == 8 && i + 16 <= n; i += 16) {
        __m128i planes[8], pairs[8], quads[8];
        for (int b = 0; b < 8; b++)
            planes[b] = _mm_loadu_si128((const __m128i *)(source + (size_t)b * n + i));
        for (int b = 0; b < 4; b++) {
            pairs[2 * b] = _mm_unpacklo_epi8(planes[2 * b], planes[2 * b + 1]);
            pairs[2 * b + 1] = _mm_unpackhi_epi8(planes[2 * b], planes[2 * b + 1]);
        }
        for (int half = 0; half < 2; half++) {
            for (int side = 0; side < 2; side++) {
                quads[4 * half + 2 * side] = _mm_unpacklo_epi16(pairs[half + 4 * side], pairs[half + 4 * side + 2]);
                quads[4 * half + 2 * side + 1] = _mm_unpackhi_epi16(pairs[half + 4 * side], pairs[half + 4 * side + 2]);
            }
            for (int part = 0; part < 2; part++) {
                __m128i low = quads[4 * half + part], high = quads[4 * half + 2 + part];
                __m128i *out = (__m128i *)(target + (i + 8 * (size_t)half + 4 * (size_t)part) * 8);
                _mm_storeu_si128(out, _mm_unpacklo_epi32(low, high));
                _mm_storeu_si128(out + 1, _mm_unpackhi_epi32(low, high));
            }
        }
    }
#endif
    for (; i < n; i++)
        for (size_t b = 0; b < element; b++)
            target[i * element + b] = source[b * n + i];
    memcpy(target + n * element, source + n * element, bytes - n * element);
}

/* Undoes the filters that the chunk's mask does not exclude. The three buffers take turns; returns the one that
 * holds the values. */
static char *decode(const struct pipeline *pipeline, struct libdeflate_decompressor *inflate, uint32_t mask,
                    char *stored, size_t stored_bytes, char *spare, size_t chunk_bytes, size_t element)
{
    for (int i = pipeline->n - 1; i >= 0; i--) {
        if (mask & (UINT32_C(1) << i))
            continue;
        if (pipeline->filters[i] == H5Z_FILTER_DEFLATE) {
            size_t got;
            if (libdeflate_zlib_decompress(inflate, stored, stored_bytes, spare, chunk_bytes, &got) !=
                LIBDEFLATE_SUCCESS)
                die("a chunk does not inflate");
            stored_bytes = got;
        } else {
            unshuffle(stored, spare, stored_bytes, element);
        }
        char *swap = stored;
        stored = spare;
        spare = swap;
    }
    if (stored_bytes != chunk_bytes)
        die("a chunk has %zu bytes instead of %zu", stored_bytes, chunk_bytes);
    return stored;
}

static void *work(void *argument)
{
    struct job *job = argument;
    const struct chunks *chunks = job->chunks;
    size_t chunk_bytes = chunks_chunk_bytes(chunks);
    size_t room = chunk_bytes + chunk_bytes / 8 + 1024; /* deflate can make a chunk a little longer */
    char *stored = malloc(room), *spare = malloc(room);
    struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor();
    if (stored == NULL || spare == NULL || inflate == NULL)
        die("no memory");
    for (;;) {
        pthread_mutex_lock(&job->library);
        if (job->next == chunks->n_transfers) {
            pthread_mutex_unlock(&job->library);
            break;
        }
        struct transfer transfer = chunks_transfer(chunks, job->next++);
        hsize_t offset[MAX_RANK] = {0};
        size_t bytes = room;
        uint32_t mask = 0;
        if (transfer.raw_chunk != NO_CHUNK) {
            offset[0] = (hsize_t)transfer.raw_chunk * chunks->chunk_shape[0];
            if (H5Dread_chunk2(chunks->raw, H5P_DEFAULT, offset, &mask, stored, &bytes) < 0 || bytes > room)
                die("cannot read raw chunk %lld", (long long)transfer.raw_chunk);
        }
        pthread_mutex_unlock(&job->library);
        if (transfer.raw_chunk == NO_CHUNK)
            continue;
        const char *chunk = decode(job->pipeline, inflate, mask, stored, bytes, spare, chunk_bytes,
                                   chunks->element_bytes);
        chunks_scatter(chunks, &transfer, chunk, job->result);
    }
    libdeflate_free_decompressor(inflate);
    free(stored);
    free(spare);
    return NULL;
}

static struct result run(const struct row *row)
{
    hid_t file = H5Fopen(row->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        die("cannot open %s", row->file);
    struct chunks chunks = chunks_open(file, H5P_DEFAULT, row);
    struct pipeline pipeline = pipeline_of(chunks.raw);
    struct result result = result_alloc(chunks_result_bytes(&chunks));
    struct job job = {&chunks, &pipeline, result.data, PTHREAD_MUTEX_INITIALIZER, 0};

    pthread_t threads[row->threads];
    for (int i = 1; i < row->threads; i++)
        if (pthread_create(&threads[i], NULL, work, &job) != 0)
            die("cannot start a thread");
    work(&job);
    for (int i = 1; i < row->threads; i++)
        pthread_join(threads[i], NULL);

    chunks_close(&chunks);
    H5Fclose(file);
    return result;
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.virtual_dataset == NULL || row.raw_dataset == NULL || row.threads < 1)
        die("--file, --virtual, --raw and --select or --indices are needed, and one thread at least");
    return serve(&row, run);
}
