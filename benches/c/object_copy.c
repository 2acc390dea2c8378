/* H5Ocopy of everything that a file's root group links to into a new file, and one fsync. Options: --file, --out.
 *
 * What was written is read back by the comparison, so the result is empty. */
#include "bench.h"

#include <hdf5.h>

static herr_t copy_link(hid_t root, const char *name, const H5L_info2_t *info, void *target)
{
    (void)info;
    return H5Ocopy(root, name, *(hid_t *)target, name, H5P_DEFAULT, H5P_DEFAULT);
}

static struct result run(const struct row *row)
{
    hid_t source = H5Fopen(row->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (source < 0)
        die("cannot open %s", row->file);
    hid_t target = H5Fcreate(row->out, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    if (target < 0)
        die("cannot create %s", row->out);
    if (H5Literate2(source, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, copy_link, &target) < 0)
        die("cannot copy %s", row->file);
    if (H5Fclose(target) < 0)
        die("cannot close %s", row->out);
    H5Fclose(source);
    sync_file(row->out);
    return result_alloc(0);
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.out == NULL)
        die("--file and --out are needed");
    return serve(&row, run);
}
