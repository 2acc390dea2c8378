/* H5Dread of a hyperslab through the version's virtual dataset. Options: --file, --virtual, --select. */
#include "bench.h"

#include <hdf5.h>

static struct result run(const struct row *row)
{
    hid_t file = H5Fopen(row->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, row->virtual_dataset, H5P_DEFAULT);
    if (file < 0 || dataset < 0)
        die("cannot open %s in %s", row->virtual_dataset, row->file);
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);

    hsize_t start[MAX_RANK], step[MAX_RANK], count[MAX_RANK];
    size_t bytes = H5Tget_size(type);
    for (int axis = 0; axis < row->rank; axis++) {
        start[axis] = row->select[axis].start;
        step[axis] = row->select[axis].step;
        count[axis] = row->select[axis].count;
        bytes *= count[axis];
    }
    if (H5Sget_simple_extent_ndims(space) != row->rank ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, NULL) < 0)
        die("the selection does not fit %s", row->virtual_dataset);

    struct result result = result_alloc(bytes);
    hid_t memory = H5Screate_simple(row->rank, count, NULL);
    if (H5Dread(dataset, type, memory, space, H5P_DEFAULT, result.data) < 0)
        die("cannot read %s", row->virtual_dataset);
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
    return result;
}

int main(int argc, char **argv)
{
    struct row row = row_from_arguments(argc, argv);
    if (row.file == NULL || row.virtual_dataset == NULL)
        die("--file, --virtual and --select are needed");
    return serve(&row, run);
}
