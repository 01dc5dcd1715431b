// AVX2 with FMA as in x86-64-v3.
#if defined(__x86_64__)
#include <math.h>
#include <string.h>
#include "paths.h"
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define PATH hg_raster_avx2
#include "rows_body.h"
#include "steps_body.h"
#pragma clang attribute pop
#endif
