// AVX2 with FMA as in x86-64-v3: 16 registers of 8 floats.
#if defined(__x86_64__)
#include "kernels.h"
#include <string.h>
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define LANES 8
#define ROWS 6
#define VECTORS 2
#define PATH HG_PATH_AVX2
#define KERNELS hg_kernels_avx2
#include "kernels_body.h"
#pragma clang attribute pop
#endif
