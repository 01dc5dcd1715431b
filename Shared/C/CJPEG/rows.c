#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef float vec __attribute__((vector_size(16)));
typedef int vec_whole __attribute__((vector_size(16)));
typedef uint16_t vec_sums __attribute__((vector_size(8)));
typedef uint8_t vec_levels __attribute__((vector_size(4)));

static int make_spans(hg_spans *made, int count, int source_count) {
    const double scale = (double)source_count / count;
    made->spans = malloc(sizeof *made->spans * (size_t)count);
    // Two neighbours share at most one pixel.
    made->weights = malloc(sizeof *made->weights * ((size_t)source_count + (size_t)count + 1));
    if (made->spans == NULL || made->weights == NULL) return 0;
    int used = 0;
    for (int i = 0; i < count; ++i) {
        const double start = i * scale, end = (i + 1) * scale;
        hg_span *span = &made->spans[i];
        *span = (hg_span){(int)start, (int)ceil(end) - 1, used};
        if (span->last >= source_count) span->last = source_count - 1;
        if (span->first > span->last) span->first = span->last;
        // Rounded together, so that a white area stays white.
        int before = 0;
        for (int pixel = span->first; pixel <= span->last; ++pixel) {
            const int until = pixel == span->last ? 256 : (int)lround((pixel + 1 - start) / scale * 256);
            made->weights[used++] = (uint16_t)(until - before);
            before = until;
        }
    }
    return 1;
}

/// Where the first pixel is put, and how far apart the next ones: orientations 5 to 8 make columns of the rows.
static void turn(hg_rows *rows, int orientation) {
    const ptrdiff_t turned = orientation >= 5, pixel = 3, line = pixel * (turned ? rows->height : rows->width);
    const int from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const int from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    rows->across = (turned ? line : pixel) * (from_right ? -1 : 1);
    rows->down = (turned ? pixel : line) * (from_bottom ? -1 : 1);
    rows->origin = rows->pixels;
    if (from_right) rows->origin -= rows->across * (rows->width - 1);
    if (from_bottom) rows->origin -= rows->down * (rows->height - 1);
}

int hg_rows_reduces(const hg_rows *rows) { return rows->width != rows->source_width || rows->height != rows->source_height; }

int hg_rows_create(hg_rows *rows, int source_width, int source_height, int width, int height, int orientation) {
    *rows = (hg_rows){.source_width = source_width, .source_height = source_height, .width = width, .height = height};
    rows->pixels = malloc((size_t)width * (size_t)height * 3);
    if (rows->pixels == NULL) return 0;
    turn(rows, orientation);
    if (!hg_rows_reduces(rows)) return 1;
    rows->sums = calloc((size_t)source_width * 4, sizeof *rows->sums);
    rows->line = malloc((size_t)width * 3 + 1);
    return rows->sums != NULL && rows->line != NULL && make_spans(&rows->columns, width, source_width)
        && make_spans(&rows->rows, height, source_height);
}

void hg_rows_destroy(hg_rows *rows) {
    free(rows->columns.spans);
    free(rows->columns.weights);
    free(rows->rows.spans);
    free(rows->rows.weights);
    free(rows->sums);
    free(rows->line);
    free(rows->pixels);
    *rows = (hg_rows){0};
}

static void put(const hg_rows *rows, int row, const uint8_t *line) {
    uint8_t *to = rows->origin + row * rows->down;
    if (rows->across == 3) {
        memcpy(to, line, (size_t)rows->width * 3);
        return;
    }
    for (int x = 0; x < rows->width; ++x, to += rows->across, line += 3) {
        to[0] = line[0];
        to[1] = line[1];
        to[2] = line[2];
    }
}

static void add(uint16_t *restrict sums, const uint8_t *restrict values, int count, uint16_t weight) {
    for (int i = 0; i < count; ++i) sums[i] = (uint16_t)(sums[i] + weight * values[i]);
}

/// Makes a line of the sums, and clears them.
static void finish(hg_rows *rows) {
    const uint16_t *all_sums = rows->sums, *all_weights = rows->columns.weights;
    uint8_t *to = rows->line;
    for (int x = 0; x < rows->width; ++x, to += 3) {
        const hg_span span = rows->columns.spans[x];
        vec total = {32768, 32768, 32768, 32768};
        for (int pixel = span.first; pixel <= span.last; ++pixel) {
            vec_sums sums;
            memcpy(&sums, all_sums + (size_t)pixel * 4, sizeof sums);
            const float weight = all_weights[span.weight + pixel - span.first];
            total += __builtin_convertvector(sums, vec) * weight;
        }
        const vec_levels levels = __builtin_convertvector(__builtin_convertvector(total * (1.0f / 65536), vec_whole), vec_levels);
        // The fourth byte is the first of the next pixel, which replaces it.
        memcpy(to, &levels, sizeof levels);
    }
    memset(rows->sums, 0, sizeof *rows->sums * 4 * (size_t)rows->source_width);
}

void hg_rows_take(hg_rows *rows, int row, const uint8_t *values) {
    if (!hg_rows_reduces(rows)) {
        put(rows, row, values);
        return;
    }
    while (rows->next < rows->height) {
        const hg_span span = rows->rows.spans[rows->next];
        if (row < span.first) return;
        add(rows->sums, values, rows->source_width * 4, rows->rows.weights[span.weight + row - span.first]);
        if (row < span.last) return;
        finish(rows);
        put(rows, rows->next++, rows->line);
    }
}
