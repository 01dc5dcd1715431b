// The inner loops of the networks, once for each instruction set.
//
// A map is a picture of `channels` floats a pixel, which are adjacent. A row of pixels is dense except for `stride`, the floats from
// one pixel to the next: it may exceed the channels (see hg_stride). Channels are a multiple of 16 on every path.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/CFaceNet.h"

/// A convolution that mixes channels, with weights packed for one path.
typedef struct {
    /// Floats that one pixel of the output reads: `segments` runs of `depth` adjacent ones. A pointwise layer has one run.
    int segments, depth;
    int out;
    const float *weights, *bias;
    /// The factors of negative results (PReLU), or NULL to keep them.
    const float *slopes;
} hg_dense;

/// A pointwise layer in 8-bit weights, for the path that has such products.
typedef struct {
    /// Multiples of 32.
    int depth, out;
    /// By blocks of 32 channels, and of 4 inputs: [block][input / 4][channel][input % 4].
    const int8_t *weights;
    /// Of each channel, the value of a weight of 1, and the sum of the weights' values.
    const float *scales, *sums;
    const float *bias, *slopes;
} hg_dense8;

/// A convolution of 3x3 pixels in each channel by itself, with a border of one zero pixel.
typedef struct {
    int channels;
    /// Pixels from one result to the next in both directions: 1 or 2.
    int step;
    /// The nine weights of channel 0 to LANES - 1 lie nine times `channels` floats apart: [y, x, channel].
    const float *weights, *bias, *slopes;
} hg_depthwise;

/// The last layer of the recogniser: 8-bit weights in blocks of 64, each with a scale and a zero point.
typedef struct {
    int blocks, out;
    const int8_t *weights, *zeros;
    const float *scales, *bias;
} hg_quantised;

typedef struct {
    const float *values;
    int width, height;
    size_t stride;
} hg_map;

typedef struct {
    hg_path path;
    /// Channels of the output that one pass over the input computes.
    int block;
    /// Computes `pixels` pixels whose inputs are `stride` floats apart; runs of one pixel are `segment_stride` floats apart.
    void (*dense)(const hg_dense *layer, const float *in, size_t stride, size_t segment_stride, int pixels, float *out,
                  size_t out_stride);
    /// The same for a pointwise layer of 8-bit weights; NULL where the path does not have it. `space` is scratch memory of
    /// hg_dense8_space() floats.
    void (*dense8)(const hg_dense8 *layer, const float *in, size_t stride, int pixels, float *space, float *out, size_t out_stride);
    /// Computes the rows `first` to `last` - 1 of the result.
    void (*depthwise)(const hg_depthwise *layer, hg_map in, int first, int last, float *out, size_t out_stride);
    /// Halves a map by the greatest of four values.
    void (*pool)(hg_map in, int channels, float *out, size_t out_stride);
    /// Adds to a map one of half its size.
    void (*add_doubled)(hg_map half, int channels, float *out, size_t out_stride);
    /// Multiplies `in` of 64 times `blocks` floats. `sums` is scratch memory of as many floats.
    void (*quantised)(const hg_quantised *layer, const float *in, float *sums, float *out);
} hg_kernels;

/// Returns the kernels of a path; NULL when this processor or this build does not have it.
const hg_kernels *hg_kernels_of(hg_path path);

extern const hg_kernels hg_kernels_portable;
#if defined(__x86_64__)
extern const hg_kernels hg_kernels_avx2, hg_kernels_avx512, hg_kernels_vnni;
void hg_dense8_vnni(const hg_dense8 *layer, const float *in, size_t stride, int pixels, float *space, float *out, size_t out_stride);
#endif

/// Returns the scratch memory of `dense8`, in floats: a byte an input, and two floats a pixel.
static inline size_t hg_dense8_space(size_t pixels, size_t depth) { return pixels * (depth / 4 + 2); }

/// Returns the floats from one pixel to the next. Distances of a multiple of 2 KiB would put a column of pixels into few sets of
/// the first-level cache, which then holds less than a tile.
static inline size_t hg_stride(int channels) { return (size_t)channels + (channels >= 128 ? 16 : 0); }
