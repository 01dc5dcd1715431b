// The kernels, written once in vectors of LANES floats. A file for one instruction set defines LANES, ROWS and VECTORS (the pixels
// and vectors of channels that a tile holds in registers) and KERNELS, the name of its table, and includes this.
//
// Vectors are those of clang and gcc; the compiler fuses a product and a sum where the instruction set can.
#include <string.h>

#include "kernels.h"

#pragma STDC FP_CONTRACT ON

#define ALWAYS static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#define BLOCK (LANES * VECTORS)

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int vec_mask __attribute__((vector_size(4 * LANES)));
typedef int8_t vec_bytes __attribute__((vector_size(LANES)));

ALWAYS vec load(const float *from) {
    vec value;
    memcpy(&value, from, sizeof value);
    return value;
}

ALWAYS void store(float *to, vec value) { memcpy(to, &value, sizeof value); }

// Subtracting zero is what the compiler removes; adding it would change a negative zero.
ALWAYS vec splat(float value) { return value - (vec){0}; }

ALWAYS vec larger(vec a, vec b) { return (vec)(((vec_mask)a & (a > b)) | ((vec_mask)b & ~(a > b))); }

ALWAYS vec activated(vec value, const float *slopes) {
    const vec_mask negative = value < 0;
    return (vec)(((vec_mask)(value * load(slopes)) & negative) | ((vec_mask)value & ~negative));
}

/// Computes `rows` pixels of `vectors` vectors of channels: all sums stay in registers. Both numbers are constants of the caller.
ALWAYS void tile(int rows, int vectors, const hg_dense *layer, int channel, const float *in, size_t stride, size_t segment_stride,
                 float *out, size_t out_stride) {
    vec sums[ROWS][VECTORS];
    UNROLL for (int row = 0; row < rows; ++row)
        UNROLL for (int v = 0; v < vectors; ++v) sums[row][v] = load(layer->bias + channel + v * LANES);
    const float *weights = layer->weights + (size_t)channel * layer->segments * layer->depth;
    for (int segment = 0; segment < layer->segments; ++segment, in += segment_stride) {
        for (int k = 0; k < layer->depth; ++k, weights += vectors * LANES) {
            vec weight[VECTORS];
            UNROLL for (int v = 0; v < vectors; ++v) weight[v] = load(weights + v * LANES);
            UNROLL for (int row = 0; row < rows; ++row) {
                const vec value = splat(in[row * stride + k]);
                UNROLL for (int v = 0; v < vectors; ++v) sums[row][v] += value * weight[v];
            }
        }
    }
    UNROLL for (int row = 0; row < rows; ++row) {
        UNROLL for (int v = 0; v < vectors; ++v) {
            const int at = channel + v * LANES;
            store(out + row * out_stride + at, layer->slopes ? activated(sums[row][v], layer->slopes + at) : sums[row][v]);
        }
    }
}

#define CASE(rows) \
    case rows: tile(rows, TILE_VECTORS, layer, channel, in, stride, segment_stride, out, out_stride); break;
#define CASES_TO_6 CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#if ROWS == 6
#define CASES CASES_TO_6
#elif ROWS == 8
#define CASES CASES_TO_6 CASE(7) CASE(8)
#elif ROWS == 12
#define CASES CASES_TO_6 CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#elif ROWS == 14
#define CASES CASES_TO_6 CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14)
#endif

static void wide_tile(int rows, const hg_dense *layer, int channel, const float *in, size_t stride, size_t segment_stride, float *out,
                      size_t out_stride) {
#define TILE_VECTORS VECTORS
    switch (rows) { CASES }
#undef TILE_VECTORS
}

#if LANES * VECTORS > 16
static void narrow_tile(int rows, const hg_dense *layer, int channel, const float *in, size_t stride, size_t segment_stride, float *out,
                        size_t out_stride) {
#define TILE_VECTORS (16 / LANES)
    switch (rows) { CASES }
#undef TILE_VECTORS
}
#else
// Channels are a multiple of 16, so each block is whole.
#define narrow_tile wide_tile
#endif

static void dense(const hg_dense *layer, const float *in, size_t stride, size_t segment_stride, int pixels, float *out,
                  size_t out_stride) {
    // Channels outside, pixels inside: the weights of a block are read from memory once, and stay in the nearer caches.
    for (int channel = 0, channels; channel < layer->out; channel += channels) {
        channels = layer->out - channel >= BLOCK ? BLOCK : 16;
        for (int pixel = 0, rows; pixel < pixels; pixel += rows) {
            // Tiles of almost the same size, because a tile of a few pixels waits for its own sums.
            const int left = (pixels - pixel + ROWS - 1) / ROWS;
            rows = (pixels - pixel + left - 1) / left;
            const float *from = in + pixel * stride;
            float *to = out + pixel * out_stride;
            if (channels == BLOCK) {
                wide_tile(rows, layer, channel, from, stride, segment_stride, to, out_stride);
            } else {
                narrow_tile(rows, layer, channel, from, stride, segment_stride, to, out_stride);
            }
        }
    }
}

static void depthwise(const hg_depthwise *layer, hg_map in, int first, int last, float *out, size_t out_stride) {
    const int step = layer->step, width = (in.width + step - 1) / step, channels = layer->channels;
    static const float zeros[LANES];
    for (int y = first; y < last; ++y, out += width * out_stride) {
        for (int c = 0; c < channels; c += LANES) {
            vec weights[9];
            UNROLL for (int i = 0; i < 9; ++i) weights[i] = load(layer->weights + i * channels + c);
            const vec bias = load(layer->bias + c);
            const float *rows[3];
            size_t strides[3];
            UNROLL for (int i = 0; i < 3; ++i) {
                const int row = y * step + i - 1, inside = row >= 0 && row < in.height;
                rows[i] = inside ? in.values + (size_t)row * in.width * in.stride + c : zeros;
                strides[i] = inside ? in.stride : 0;
            }
            for (int x = 0; x < width; ++x) {
                const int column = x * step - 1;
                vec sum = bias;
                if (column >= 0) {
                    UNROLL for (int i = 0; i < 3; ++i) sum += load(rows[i] + column * strides[i]) * weights[3 * i];
                }
                UNROLL for (int i = 0; i < 3; ++i) sum += load(rows[i] + (column + 1) * strides[i]) * weights[3 * i + 1];
                if (column + 2 < in.width) {
                    UNROLL for (int i = 0; i < 3; ++i) sum += load(rows[i] + (column + 2) * strides[i]) * weights[3 * i + 2];
                }
                store(out + x * out_stride + c, layer->slopes ? activated(sum, layer->slopes + c) : sum);
            }
        }
    }
}

static void pool(hg_map in, int channels, float *out, size_t out_stride) {
    for (int y = 0; y < in.height / 2; ++y) {
        for (int x = 0; x < in.width / 2; ++x, out += out_stride) {
            const float *above = in.values + ((size_t)2 * y * in.width + 2 * x) * in.stride, *below = above + in.width * in.stride;
            for (int c = 0; c < channels; c += LANES)
                store(out + c, larger(larger(load(above + c), load(above + in.stride + c)),
                                      larger(load(below + c), load(below + in.stride + c))));
        }
    }
}

static void add_doubled(hg_map half, int channels, float *out, size_t out_stride) {
    for (int y = 0; y < 2 * half.height; ++y) {
        for (int x = 0; x < 2 * half.width; ++x, out += out_stride) {
            const float *from = half.values + ((size_t)(y / 2) * half.width + x / 2) * half.stride;
            for (int c = 0; c < channels; c += LANES) store(out + c, load(out + c) + load(from + c));
        }
    }
}

static void quantised(const hg_quantised *layer, const float *in, float *sums, float *out) {
    // A block's zero point counts once, times the sum of the inputs, instead of being subtracted from each weight.
    for (int block = 0; block < layer->blocks; ++block) {
        vec sum = {0};
        for (int i = 0; i < 64; i += LANES) sum += load(in + block * 64 + i);
        store(sums + (size_t)block * LANES, sum);
    }
    for (int row = 0; row < layer->out; row += 4) {
        vec totals[4] = {{0}};
        for (int block = 0; block < layer->blocks; ++block) {
            vec parts[4] = {{0}};
            UNROLL for (int i = 0; i < 64; i += LANES) {
                const vec value = load(in + block * 64 + i);
                UNROLL for (int r = 0; r < 4; ++r) {
                    vec_bytes bytes;
                    memcpy(&bytes, layer->weights + ((size_t)(row + r) * layer->blocks + block) * 64 + i, sizeof bytes);
                    parts[r] += __builtin_convertvector(bytes, vec) * value;
                }
            }
            const vec sum = load(sums + (size_t)block * LANES);
            UNROLL for (int r = 0; r < 4; ++r) {
                const size_t at = (size_t)(row + r) * layer->blocks + block;
                totals[r] += splat(layer->scales[at]) * (parts[r] - splat(layer->zeros[at]) * sum);
            }
        }
        for (int r = 0; r < 4; ++r) {
            float total = layer->bias[row + r];
            for (int lane = 0; lane < LANES; ++lane) total += totals[r][lane];
            out[row + r] = total;
        }
    }
}

const hg_kernels KERNELS = {
    .path = PATH, .block = BLOCK, .dense = dense, .depthwise = depthwise, .pool = pool, .add_doubled = add_doubled,
    .quantised = quantised,
};
