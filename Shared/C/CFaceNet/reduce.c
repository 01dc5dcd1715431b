#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "include/CFaceNet.h"

typedef float vec __attribute__((vector_size(16)));
typedef int vec_whole __attribute__((vector_size(16)));
typedef uint16_t vec_sums __attribute__((vector_size(8)));

/// The source pixels of one pixel of the result: `first` to `last`, both inside. Their weights begin at `weight` and sum up to 256.
typedef struct {
    int first, last, weight;
} span;

typedef struct {
    span *columns, *rows;
    uint16_t *column_weights, *row_weights;
    /// Sums of the source's rows of one row of the result: each at most 255 times 256.
    uint16_t *sums;
} reduction;

static int make_spans(int count, int source_count, span **made, uint16_t **weights) {
    const double scale = (double)source_count / count;
    *made = malloc(sizeof **made * (size_t)count);
    // Two neighbours share at most one pixel.
    *weights = malloc(sizeof **weights * ((size_t)source_count + (size_t)count + 1));
    if (*made == NULL || *weights == NULL) return 0;
    int used = 0;
    for (int i = 0; i < count; ++i) {
        const double start = i * scale, end = (i + 1) * scale;
        span of = {(int)start, (int)ceil(end) - 1, used};
        if (of.last >= source_count) of.last = source_count - 1;
        if (of.first > of.last) of.first = of.last;
        // Rounded together, so that a white area stays white.
        int before = 0;
        for (int pixel = of.first; pixel <= of.last; ++pixel) {
            const int until = pixel == of.last ? 256 : (int)lround((pixel + 1 - start) / scale * 256);
            (*weights)[used++] = (uint16_t)(until - before);
            before = until;
        }
        (*made)[i] = of;
    }
    return 1;
}

static void add_row(uint16_t *restrict sums, const uint8_t *restrict row, int count, uint16_t weight) {
    for (int i = 0; i < count; ++i) sums[i] = (uint16_t)(sums[i] + weight * row[i]);
}

static void reduce_row(const reduction *by, int width, uint8_t *out) {
    for (int x = 0; x < width; ++x, out += 3) {
        const span of = by->columns[x];
        vec total = {32768, 32768, 32768};
        for (int column = of.first; column <= of.last; ++column) {
            // The fourth number is one of the next pixel.
            vec_sums sums;
            memcpy(&sums, by->sums + (size_t)column * 3, sizeof sums);
            const float weight = by->column_weights[of.weight + column - of.first];
            total += __builtin_convertvector(sums, vec) * weight;
        }
        const vec_whole levels = __builtin_convertvector(total * (1.0f / 65536), vec_whole);
        out[0] = (uint8_t)levels[0];
        out[1] = (uint8_t)levels[1];
        out[2] = (uint8_t)levels[2];
    }
}

static void reduce(const reduction *by, hg_rgb picture, int width, int height, uint8_t *reduced) {
    const size_t row_bytes = (size_t)picture.width * 3;
    for (int y = 0; y < height; ++y) {
        const span rows = by->rows[y];
        memset(by->sums, 0, sizeof *by->sums * (row_bytes + 1));
        for (int row = rows.first; row <= rows.last; ++row)
            add_row(by->sums, picture.pixels + (size_t)row * row_bytes, (int)row_bytes, by->row_weights[rows.weight + row - rows.first]);
        reduce_row(by, width, reduced + (size_t)y * width * 3);
    }
}

int hg_picture_reduce(hg_rgb picture, int width, int height, uint8_t *reduced) {
    if (width < 1 || height < 1 || width > picture.width || height > picture.height) return 0;
    reduction by = {0};
    by.sums = malloc(sizeof *by.sums * (3 * (size_t)picture.width + 1));
    const int done = by.sums != NULL && make_spans(width, picture.width, &by.columns, &by.column_weights)
        && make_spans(height, picture.height, &by.rows, &by.row_weights);
    if (done) reduce(&by, picture, width, height, reduced);
    free(by.sums);
    free(by.columns);
    free(by.column_weights);
    free(by.rows);
    free(by.row_weights);
    return done;
}

void hg_picture_mirror(hg_rgb picture, uint8_t *mirrored) {
    const size_t row_bytes = (size_t)picture.width * 3;
    for (int y = 0; y < picture.height; ++y) {
        const uint8_t *source = picture.pixels + (size_t)y * row_bytes;
        uint8_t *target = mirrored + ((size_t)y + 1) * row_bytes;
        for (int x = 0; x < picture.width; ++x, source += 3) {
            target -= 3;
            memcpy(target, source, 3);
        }
    }
}

void hg_picture_turn(hg_rgb picture, int quarters, uint8_t *turned) {
    const ptrdiff_t width = picture.width, height = picture.height;
    const int exchanged = quarters % 2 != 0;
    // The source of the first pixel, and the steps from a pixel's source to that of the next one in its row and in its column.
    const ptrdiff_t first = quarters == 1 ? (height - 1) * width : quarters == 2 ? height * width - 1 : width - 1;
    const ptrdiff_t across = quarters == 1 ? -width : quarters == 2 ? -1 : width;
    const ptrdiff_t down = quarters == 1 ? 1 : quarters == 2 ? -width : -1;
    for (ptrdiff_t y = 0; y < (exchanged ? width : height); ++y) {
        ptrdiff_t source = first + y * down;
        for (ptrdiff_t x = 0; x < (exchanged ? height : width); ++x, source += across, turned += 3)
            memcpy(turned, picture.pixels + source * 3, 3);
    }
}
