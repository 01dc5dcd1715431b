// Pointwise layers in products of 8-bit numbers, by AVX-512 VNNI: four products in the time of one of floats.
//
// A pixel's inputs are rounded to 256 levels between its least and its greatest one, and a channel's weights to 255 between the greatest
// and its opposite. Sums are exact; what remains of the floats is one product and one sum a result.
#include "kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma"))), apply_to = function)

/// As in the kernels of floats: sums of 14 pixels and 32 channels are 28 of 32 registers.
enum { LANES = 16, VECTORS = 2, ROWS = 14, BLOCK = LANES * VECTORS };

#define UNROLL _Pragma("clang loop unroll(full)")

/// What is known of the pixels beside their levels: an input is its level times `scale` plus `least`.
typedef struct {
    const uint8_t *levels;
    const float *scale, *least;
} pixels8;

static void quantise(const float *in, int depth, uint8_t *levels, float *scale, float *least) {
    __m512 low = _mm512_setzero_ps(), high = _mm512_setzero_ps();
    for (int i = 0; i < depth; i += LANES) {
        const __m512 values = _mm512_loadu_ps(in + i);
        low = _mm512_min_ps(values, low);
        high = _mm512_max_ps(values, high);
    }
    *least = _mm512_reduce_min_ps(low);
    const float range = _mm512_reduce_max_ps(high) - *least;
    *scale = range * (1.0f / 255);
    const __m512 start = _mm512_set1_ps(*least), factor = _mm512_set1_ps(range > 0 ? 255 / range : 0);
    for (int i = 0; i < depth; i += LANES) {
        const __m512 values = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(in + i), start), factor);
        _mm_storeu_si128((__m128i *)(levels + i), _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(values)));
    }
}

/// Computes `rows` pixels, a constant of the caller, of the channels from `channel` on.
static inline __attribute__((always_inline)) void tile(int rows, const hg_dense8 *layer, int channel, pixels8 in, float *out,
                                                       size_t out_stride) {
    __m512i sums[ROWS][VECTORS];
    UNROLL for (int row = 0; row < rows; ++row)
        UNROLL for (int v = 0; v < VECTORS; ++v) sums[row][v] = _mm512_setzero_si512();
    const int8_t *weights = layer->weights + (size_t)channel * layer->depth;
    for (int k = 0; k < layer->depth; k += 4, weights += 4 * BLOCK) {
        __m512i weight[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; ++v) weight[v] = _mm512_loadu_si512(weights + v * 4 * LANES);
        UNROLL for (int row = 0; row < rows; ++row) {
            int four;
            memcpy(&four, in.levels + (size_t)row * layer->depth + k, sizeof four);
            const __m512i levels = _mm512_set1_epi32(four);
            UNROLL for (int v = 0; v < VECTORS; ++v) sums[row][v] = _mm512_dpbusd_epi32(sums[row][v], levels, weight[v]);
        }
    }
    UNROLL for (int row = 0; row < rows; ++row) {
        UNROLL for (int v = 0; v < VECTORS; ++v) {
            const int at = channel + v * LANES;
            const __m512 scale = _mm512_mul_ps(_mm512_loadu_ps(layer->scales + at), _mm512_set1_ps(in.scale[row]));
            const __m512 start = _mm512_fmadd_ps(_mm512_loadu_ps(layer->sums + at), _mm512_set1_ps(in.least[row]),
                                                 _mm512_loadu_ps(layer->bias + at));
            const __m512 value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[row][v]), scale, start);
            const __mmask16 negative = _mm512_cmp_ps_mask(value, _mm512_setzero_ps(), _CMP_LT_OQ);
            _mm512_storeu_ps(out + row * out_stride + at,
                             _mm512_mask_mul_ps(value, negative, value, _mm512_loadu_ps(layer->slopes + at)));
        }
    }
}

static void some_rows(int rows, const hg_dense8 *layer, int channel, pixels8 in, float *out, size_t out_stride) {
#define CASE(rows) \
    case rows: tile(rows, layer, channel, in, out, out_stride); break;
    switch (rows) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14)
    }
#undef CASE
}

void hg_dense8_vnni(const hg_dense8 *layer, const float *in, size_t stride, int pixels, float *space, float *out, size_t out_stride) {
    float *scale = space, *least = space + pixels;
    uint8_t *levels = (uint8_t *)(space + 2 * (size_t)pixels);
    for (int pixel = 0; pixel < pixels; ++pixel)
        quantise(in + pixel * stride, layer->depth, levels + (size_t)pixel * layer->depth, scale + pixel, least + pixel);
    for (int channel = 0; channel < layer->out; channel += BLOCK) {
        for (int pixel = 0, rows; pixel < pixels; pixel += rows) {
            const int left = (pixels - pixel + ROWS - 1) / ROWS;
            rows = (pixels - pixel + left - 1) / left;
            const pixels8 from = {levels + (size_t)pixel * layer->depth, scale + pixel, least + pixel};
            some_rows(rows, layer, channel, from, out + pixel * out_stride, out_stride);
        }
    }
}
#pragma clang attribute pop
#endif
