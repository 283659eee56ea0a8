/* What the launcher says to a process, before MPI_Init too. */
#ifndef LAUNCHED_H
#define LAUNCHED_H

#include <stdlib.h>

/* The rank that this process was started with; -1 if the launcher gave none. */
static int launched_rank(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; i++) {
        if (getenv(names[i])) return atoi(getenv(names[i]));
    }
    return -1;
}

#endif
