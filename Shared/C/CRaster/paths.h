// The instruction sets: each compiles the same loops.
#pragma once

#include "include/CRaster.h"

typedef struct {
    void (*run)(const hg_step *steps, int count, float *registers, int width, int row);
    /// Convolves a row that has `taps` - 1 more values than the result.
    void (*across)(const float *in, float *out, int width, const float *weights, int taps);
    /// The weighted sum of rows.
    void (*down)(const float *const *rows, float *out, int width, const float *weights, int taps);
    /// A row of a plane as floats, and floats as a row.
    void (*load)(const hg_plane *plane, int y, int x, int count, float *out);
    void (*store)(const hg_plane *plane, int y, int x, int count, const float *values);
} hg_raster_path;

extern const hg_raster_path hg_raster_portable;
#if defined(__x86_64__)
extern const hg_raster_path hg_raster_avx2;
#endif

/// Returns the path that is used.
const hg_raster_path *hg_raster_chosen(void);
