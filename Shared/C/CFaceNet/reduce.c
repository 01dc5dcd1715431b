#include <stdlib.h>
#include <string.h>

#include "include/CFaceNet.h"

/// The source pixels of one pixel of the result: `first` to `last`, both inside; the outer ones by these shares.
typedef struct {
    int first, last;
    float first_share, last_share;
} span;

static span span_of(int index, int count, int source_count) {
    const double scale = (double)source_count / count, start = index * scale, end = (index + 1) * scale;
    span made = {(int)start, (int)end, 0, 0};
    if (made.last >= source_count) made.last = source_count - 1;
    if (made.first >= made.last) return (span){made.last, made.last, (float)scale, 0};
    made.first_share = (float)(made.first + 1 - start);
    made.last_share = (float)(end - made.last);
    return made;
}

static void add_row(float *sums, const uint8_t *row, int count, float share) {
    for (int i = 0; i < count; ++i) sums[i] += share * row[i];
}

static void reduce_row(const float *sums, const span *columns, int width, float factor, uint8_t *out) {
    for (int x = 0; x < width; ++x) {
        const span of = columns[x];
        for (int c = 0; c < 3; ++c) {
            float sum = of.first_share * sums[of.first * 3 + c] + of.last_share * sums[of.last * 3 + c];
            for (int column = of.first + 1; column < of.last; ++column) sum += sums[column * 3 + c];
            const float level = sum * factor + 0.5f;
            out[x * 3 + c] = (uint8_t)(level < 255 ? level : 255);
        }
    }
}

int hg_picture_reduce(hg_rgb picture, int width, int height, uint8_t *reduced) {
    if (width < 1 || height < 1 || width > picture.width || height > picture.height) return 0;
    float *sums = malloc(sizeof *sums * 3 * (size_t)picture.width);
    span *columns = malloc(sizeof *columns * (size_t)width);
    if (sums != NULL && columns != NULL) {
        const size_t row_bytes = (size_t)picture.width * 3;
        const float factor = (float)((double)width * height / ((double)picture.width * picture.height));
        for (int x = 0; x < width; ++x) columns[x] = span_of(x, width, picture.width);
        for (int y = 0; y < height; ++y) {
            const span rows = span_of(y, height, picture.height);
            memset(sums, 0, sizeof *sums * row_bytes);
            for (int row = rows.first; row <= rows.last; ++row) {
                const float share = row == rows.first ? rows.first_share : row == rows.last ? rows.last_share : 1;
                add_row(sums, picture.pixels + (size_t)row * row_bytes, (int)row_bytes, share);
            }
            reduce_row(sums, columns, width, factor, reduced + (size_t)y * width * 3);
        }
    }
    const int done = sums != NULL && columns != NULL;
    free(sums);
    free(columns);
    return done;
}
