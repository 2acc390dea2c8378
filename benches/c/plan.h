/* The file of byte ranges that `pread_floor` reads: everything that can be known before the clock starts.
 *
 * Little-endian: the three counts of the header, then the ranges, then the segments. */
#ifndef H5STRATA_PLAN_H
#define H5STRATA_PLAN_H

#include <stdint.h>

struct plan_header {
    uint64_t result_bytes, n_ranges, n_segments;
};

/* One read: `length` bytes of the file at `address`, and the segments of it that are wanted. */
struct plan_range {
    uint64_t address, length, first_segment, n_segments;
};

/* `length` bytes at `source` in the range go to `target` in the result. */
struct plan_segment {
    uint64_t target;
    uint32_t source, length;
};

#endif
