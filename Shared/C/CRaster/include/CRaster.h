// Arithmetic on planes of numbers: chains of operations in one pass over the rows, and Gaussian blurs.
//
// Each function has a path for AVX2 with FMA, which is chosen when the processor has them, and a portable one. All compute on the calling
// thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /// Pixels of a row that one pass over the steps computes: with some twenty registers they stay in the first cache.
    HG_RASTER_CHUNK = 256,
    /// Registers of a program at most.
    HG_RASTER_REGISTERS = 256,
};

/// One band of a picture: bytes, or floats.
typedef struct {
    void *values;
    int width, height;
    /// Values from one pixel, and from one row, to the next.
    ptrdiff_t pixel, row;
    int is_bytes;
} hg_plane;

typedef enum {
    /// The plane, displaced by whole pixels: from (x + dx, y + dy); its edges are repeated.
    HG_LOAD,
    /// The plane, repeated like a tile.
    HG_TILE,
    /// The plane, enlarged linearly to a size of which it has the shares `a` across and `b` down.
    HG_ENLARGE,
    /// The plane, read from a place that is `left` further right and `right` further down, linearly between pixels.
    HG_DISPLACE,
    /// The coordinates of the pixel.
    HG_ACROSS,
    HG_DOWN,
    HG_ADD,
    HG_SUBTRACT,
    HG_MULTIPLY,
    HG_DIVIDE,
    HG_LARGER,
    HG_SMALLER,
    /// left * a + b
    HG_LINEAR,
    /// left + right * a
    HG_ADD_SCALED,
    /// left where `mask` is 0, right where it is 255, and a mixture between.
    HG_MIX,
    /// left where `mask` is not negative, and -left elsewhere.
    HG_WITH_SIGN,
    HG_ABSOLUTE,
    /// The square root; 0 of negative numbers.
    HG_ROOT,
    /// The cube root of numbers that are not negative.
    HG_CUBE_ROOT,
    /// The cosine of an angle in turns.
    HG_COSINE,
    /// Rounded to 0 to 255.
    HG_ROUND,
    /// The entry of a table with `last` + 1 entries; what is beyond it takes the first or the last one.
    HG_TABLE,
    /// Writes left to the plane; levels of bytes must have been rounded.
    HG_STORE,
} hg_operation;

/// One operation on the registers, each of which holds the chunk of a row.
typedef struct {
    hg_operation operation;
    int out, left, right, mask;
    float a, b;
    int dx, dy;
    int last;
    const float *table;
    hg_plane plane;
} hg_step;

/// Runs the steps for each pixel of the rows from `first` to `end` - 1.
///
/// No step may store what another one loads, and `out` may be `left`, `right` or `mask`.
void hg_raster_run(const hg_step *steps, int count, int width, int first, int end);

/// Convolves with `taps` weights (an odd number) across and down; edges are repeated. The planes differ, and have one size. Returns 0
/// without memory.
int hg_raster_blur(hg_plane in, hg_plane out, const float *weights, int taps);

/// Reduces to the means of squares of `factor` pixels; the output's size is the input's divided, rounded up.
int hg_raster_shrink(hg_plane in, hg_plane out, int factor);

/// Counts the levels of a plane of bytes.
void hg_raster_histogram(hg_plane plane, size_t counts[256]);

/// Returns the standard deviation of a plane of floats.
double hg_raster_deviation(hg_plane plane);

/// Makes the functions above take the portable path (1), or the best one of this processor (0), on this thread, for tests.
void hg_raster_use_portable(int only_portable);

#ifdef __cplusplus
}
#endif
