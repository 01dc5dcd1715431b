// AVX-512 as in x86-64-v4: 32 registers of 16 floats.
#if defined(__x86_64__)
#include "kernels.h"
#include <string.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#ifndef ROWS
#define ROWS 14
#define VECTORS 2
#endif
#define LANES 16
#define PATH HG_PATH_AVX512
#define KERNELS hg_kernels_avx512
#include "kernels_body.h"
#pragma clang attribute pop
#endif
