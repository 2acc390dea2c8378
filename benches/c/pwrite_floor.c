/* Floor: writes as many bytes as there are values into a new file, a chunk's worth at a time. They stay in the page
 * cache, as nothing asks the system to put them on the disk. Options: --file, --bytes, --piece. */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *source;

static void pwrite_all(int file, const char *piece, uint64_t bytes, uint64_t address)
{
    while (bytes > 0) {
        ssize_t n = pwrite(file, piece, bytes, (off_t)address);
        if (n <= 0)
            die("pwrite of %zu bytes at %zu failed", (size_t)bytes, (size_t)address);
        piece += n;
        address += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
}

/* The result is what the file holds afterwards, so that it is the file whose checksum is taken. */
static struct result run(const struct row *row)
{
    int file = open(row->file, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (file < 0)
        die("cannot create %s", row->file);
    for (uint64_t at = 0; at < row->bytes; at += row->piece) {
        uint64_t left = row->bytes - at;
        pwrite_all(file, source + at, left < row->piece ? left : row->piece, at);
    }
    void *written = mmap(NULL, row->bytes, PROT_READ, MAP_SHARED, file, 0);
    if (written == MAP_FAILED)
        die("cannot map %s", row->file);
    close(file);
    return (struct result){written, row->bytes};
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.bytes == 0 || row.piece == 0)
        die("--file is needed, and --bytes and --piece of one at least");
    source = words_of_one(row.bytes);
    return serve(&row, run);
}
