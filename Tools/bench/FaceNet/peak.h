// The rate of fused multiply-adds that this machine reaches with one instruction set when nothing is loaded or stored.
#pragma once
#include <immintrin.h>

#define HG_PEAK(NAME, TARGET, VEC, SET, FMA, ADD, LANES, SUMS)                                                 \
    __attribute__((target(TARGET), noinline)) static double NAME(long rounds, float *sink) {                   \
        VEC sums[SUMS], factor = SET(0.999f), summand = SET(0.001f);                                            \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < SUMS; ++i) sums[i] = SET((float)i);             \
        for (long round = 0; round < rounds; ++round) {                                                         \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < SUMS; ++i) {                                \
                sums[i] = FMA(sums[i], factor, summand);                                                        \
                __asm__("" : "+v"(sums[i]));                                                                     \
            }                                                                                                   \
        }                                                                                                       \
        VEC total = sums[0];                                                                                    \
        for (int i = 1; i < SUMS; ++i) total = ADD(total, sums[i]);                                             \
        *sink = ((float *)&total)[0];                                                                           \
        return (double)rounds * SUMS * LANES;                                                                   \
    }

HG_PEAK(peak_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps, 16, 16)
HG_PEAK(peak_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps, 8, 12)
