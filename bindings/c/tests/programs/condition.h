/* What programs check that have nothing else in common. */
#ifndef CONDITION_H
#define CONDITION_H

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program unless a condition holds. */
#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* Divisions by zero, invalid operations and overflow end the program from now on, as some solvers want it. Functions of glibc. */
int feenableexcept(int);
int fegetexcept(void);
static inline void trap_exceptions(void) { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }
static inline int exceptions_trap(void) { return fegetexcept() == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }

#endif
