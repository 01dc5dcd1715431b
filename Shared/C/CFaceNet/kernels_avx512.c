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

/// The same kernels beside those of 8-bit products.
const hg_kernels hg_kernels_vnni = {
    .path = HG_PATH_VNNI, .block = BLOCK, .dense = dense, .dense8 = hg_dense8_vnni, .depthwise = depthwise, .pool = pool,
    .add_doubled = add_doubled, .quantised = quantised,
};
#pragma clang attribute pop
#endif
