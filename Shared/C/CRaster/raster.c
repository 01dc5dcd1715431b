#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "paths.h"

/// Of each thread, so that a test of it does not change what the tests beside it compute.
static _Thread_local int is_portable;

void hg_raster_use_portable(int only_portable) { is_portable = only_portable; }

const hg_raster_path *hg_raster_chosen(void) {
#if defined(__x86_64__)
    if (!is_portable && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &hg_raster_avx2;
#endif
    return &hg_raster_portable;
}

void hg_raster_run(const hg_step *steps, int count, int width, int first, int end) {
    // Numbers beyond the end of a row are computed too, and not stored.
    float registers[HG_RASTER_REGISTERS * HG_RASTER_CHUNK] __attribute__((aligned(64)));
    int used = 0;
    for (int step = 0; step < count; ++step) used = steps[step].out >= used ? steps[step].out + 1 : used;
    memset(registers, 0, sizeof *registers * HG_RASTER_CHUNK * (size_t)used);
    const hg_raster_path *path = hg_raster_chosen();
    for (int row = first; row < end; ++row) path->run(steps, count, registers, width, row);
}

/// Rows that were convolved across, of which the last `taps` are kept.
typedef struct {
    float *padded, *values;
    const float **window;
    size_t stride;
} blur_rows;

static void blur(const hg_raster_path *path, const hg_plane *in, const hg_plane *out, const float *weights, int taps, blur_rows rows) {
    const int radius = taps / 2, width = in->width;
    float *sum = rows.padded;
    int next = -radius;
    for (int y = 0; y < in->height; ++y) {
        for (; next <= y + radius; ++next) {
            path->load(in, next, -radius, width + 2 * radius, rows.padded);
            path->across(rows.padded, rows.values + (size_t)((next + radius) % taps) * rows.stride, width, weights, taps);
        }
        for (int tap = 0; tap < taps; ++tap) rows.window[tap] = rows.values + (size_t)((y + tap) % taps) * rows.stride;
        path->down(rows.window, sum, width, weights, taps);
        // Bytes are rounded; a mean of levels is one of 0 to 255.
        if (out->is_bytes)
            for (int i = 0; i < width; ++i) sum[i] += 0.5f;
        path->store(out, y, 0, width, sum);
    }
}

int hg_raster_blur(hg_plane in, hg_plane out, const float *weights, int taps) {
    const size_t stride = ((size_t)in.width + (size_t)taps + 15) & ~(size_t)15;
    blur_rows rows = {.stride = stride};
    rows.padded = malloc(sizeof *rows.padded * stride);
    rows.values = malloc(sizeof *rows.values * stride * (size_t)taps);
    rows.window = malloc(sizeof *rows.window * (size_t)taps);
    const int has_memory = rows.padded != NULL && rows.values != NULL && rows.window != NULL;
    if (has_memory) blur(hg_raster_chosen(), &in, &out, weights, taps, rows);
    free(rows.padded);
    free(rows.values);
    free(rows.window);
    return has_memory;
}

int hg_raster_shrink(hg_plane in, hg_plane out, int factor) {
    const size_t width = (size_t)out.width * (size_t)factor;
    float *row = malloc(sizeof *row * width), *sums = malloc(sizeof *sums * width);
    const int has_memory = row != NULL && sums != NULL;
    const hg_raster_path *path = hg_raster_chosen();
    const float share = 1.0f / (float)(factor * factor);
    for (int y = 0; has_memory && y < out.height; ++y) {
        path->load(&in, y * factor, 0, (int)width, sums);
        for (int line = 1; line < factor; ++line) {
            path->load(&in, y * factor + line, 0, (int)width, row);
            for (size_t i = 0; i < width; ++i) sums[i] += row[i];
        }
        for (int x = 0; x < out.width; ++x) {
            float sum = 0;
            for (int i = 0; i < factor; ++i) sum += sums[x * factor + i];
            row[x] = sum * share;
        }
        path->store(&out, y, 0, out.width, row);
    }
    free(row);
    free(sums);
    return has_memory;
}

void hg_raster_histogram(hg_plane plane, size_t counts[256]) {
    memset(counts, 0, sizeof *counts * 256);
    for (int y = 0; y < plane.height; ++y) {
        const uint8_t *row = (const uint8_t *)plane.values + y * plane.row;
        for (int x = 0; x < plane.width; ++x) ++counts[row[x * plane.pixel]];
    }
}

double hg_raster_deviation(hg_plane plane) {
    double sum = 0, squares = 0;
    for (int y = 0; y < plane.height; ++y) {
        const float *row = (const float *)plane.values + y * plane.row;
        float row_sum = 0, row_squares = 0;
        for (int x = 0; x < plane.width; ++x) {
            row_sum += row[x];
            row_squares += row[x] * row[x];
        }
        sum += row_sum;
        squares += row_squares;
    }
    const double count = (double)plane.width * plane.height;
    if (count < 2) return 0;
    return sqrt(fmax(0, (squares - sum * sum / count) / (count - 1)));
}
