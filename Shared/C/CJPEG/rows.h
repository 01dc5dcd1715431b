// The rows of a decoded picture on their way to the result: reduced by averaging areas, and turned.
#pragma once

#include "include/CJPEG.h"

/// The pixels of the source that one pixel of the result covers: `first` to `last`. Their weights begin at `weight` and sum up to 256.
typedef struct {
    int first, last, weight;
} hg_span;

/// The spans of one direction.
typedef struct {
    hg_span *spans;
    uint16_t *weights;
} hg_spans;

/// A result that takes the rows of a source, from top to bottom.
typedef struct {
    int source_width, source_height;
    /// The size of the result before it is turned; where it is that of the source, nothing is reduced.
    int width, height;
    hg_spans columns, rows;
    /// Sums of the source's rows of one row of the result, four numbers a pixel: each at most 255 times 256.
    uint16_t *sums;
    uint8_t *line;
    int next;
    uint8_t *pixels, *origin;
    /// Bytes from one pixel, and from one row, to the next in the turned result.
    ptrdiff_t across, down;
} hg_rows;

/// Prepares a result of `width` by `height` pixels before it is turned, each at least 1 and at most that of the source. Returns 0 without
/// memory; hg_rows_destroy() is needed in any case.
int hg_rows_create(hg_rows *rows, int source_width, int source_height, int width, int height, int orientation);

/// Whether rows are reduced: they have four bytes a pixel then, and three otherwise.
int hg_rows_reduces(const hg_rows *rows);

/// Takes the next row of the source.
void hg_rows_take(hg_rows *rows, int row, const uint8_t *values);

/// Releases everything; the pixels too, unless they were taken and set to NULL.
void hg_rows_destroy(hg_rows *rows);
