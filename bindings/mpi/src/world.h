/* What wrappers of functions of MPI are made of. */
#ifndef VIEM_WORLD_H
#define VIEM_WORLD_H

#include "reorder.h"

/* The function of the library that comes next, under the same name. */
#define WRAP(name, parameters, arguments)                \
    EXPORTED int name parameters                         \
    {                                                    \
        static int(*real) parameters;                    \
        if (!real) *(void **)&real = find_next(#name);   \
        return real arguments;                           \
    }

#endif
