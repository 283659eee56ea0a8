/* Parts of the wrappers of functions of MPI. */
#ifndef VIEM_WORLD_H
#define VIEM_WORLD_H

#include "reorder.h"

/* Defines a function whose result is that of a call, in which `real` is the function of the same name of the library that comes next. */
#define WRAP(name, parameters, call)                     \
    EXPORTED int name parameters                         \
    {                                                    \
        static int(*real) parameters;                    \
        if (!real) *(void **)&real = find_next(#name);   \
        return call;                                     \
    }

#endif
