// Reads flat model files, whose format deploy/local/convert-models.py describes.
#pragma once

#include "kernels.h"

enum { HG_KIND_DETECTOR = 1, HG_KIND_RECOGNISER = 2, HG_KIND_LANDMARKS = 3 };

/// What is left of a file's arrays.
typedef struct {
    const uint8_t *at;
    size_t left;
} hg_arrays;

/// Memory aligned to 64 bytes, given out in pieces and freed as a whole.
typedef struct {
    uint8_t *base;
    size_t used, size;
} hg_arena;

/// Checks header and checksum.
hg_model_fault hg_model_open(const void *file, size_t size, uint32_t kind, hg_arrays *arrays);

/// Returns the next array of `count` elements; NULL when the file has less.
const void *hg_next_array(hg_arrays *arrays, size_t count, size_t element_size);

int hg_arena_create(hg_arena *arena, size_t size);
void hg_arena_destroy(hg_arena *arena);

/// Returns the next piece; NULL when the arena is used up.
void *hg_arena_take(hg_arena *arena, size_t count, size_t element_size);

/// Returns a copy of the next array; NULL when the file or the arena is used up.
void *hg_copy_array(hg_arrays *arrays, hg_arena *arena, size_t count, size_t element_size);

/// Reads the weights of a layer, [out][segments * depth], its bias, and its slopes if it `has_slopes`; packs the weights in blocks
/// of channels, in the order in which the kernel of the path reads them. Returns 0 when the file or the arena is used up.
int hg_read_dense(hg_arrays *arrays, hg_arena *arena, const hg_kernels *kernels, int has_slopes, hg_dense *layer);

/// Reads the same arrays of a pointwise layer, and rounds the weights to 8 bits.
int hg_read_dense8(hg_arrays *arrays, hg_arena *arena, hg_dense8 *layer);

/// The same for a layer that does not mix channels.
int hg_read_depthwise(hg_arrays *arrays, hg_arena *arena, int has_slopes, hg_depthwise *layer);

struct hg_scratch {
    hg_arena arena;
};

/// Empties the scratch and makes it at least this large. Returns 0 without memory.
int hg_scratch_reserve(hg_scratch *scratch, size_t size);

/// Returns a piece of the scratch that hg_scratch_reserve has reserved.
float *hg_scratch_floats(hg_scratch *scratch, size_t count);

/// Returns the bytes that a piece takes.
static inline size_t hg_padded(size_t bytes) { return (bytes + 63) / 64 * 64; }
