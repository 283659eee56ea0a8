// The header is C++, and its functions are found.
#include <viem_dist.h>

#include <cstdio>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    // Two vertices on rank 0, none elsewhere.
    int64_t vtxdist[5] = {0, 2, 2, 2, 2}, xadj[] = {0, 1, 2}, adjncy[] = {1, 0};
    int32_t blocks[2] = {-1, -1};
    viem_dist_graph graph = {vtxdist, xadj, adjncy, 0, 0, 0, 0};
    viem_report report;
    viem_status status = viem_dist_partition(MPI_COMM_WORLD, &graph, 2, 0, 0, blocks, &report, 0);
    if (status == VIEM_STATUS_OK && blocks[0] >= 0) std::printf("cut %d of %d\n", static_cast<int>(report.cut), size);
    MPI_Finalize();
    return status != VIEM_STATUS_OK;
}
