// Rows of planes as floats and back, and weighted sums of them: once for each instruction set.
#include <math.h>
#include <string.h>
#include "paths.h"

/// Elements do not depend on each other, even where the result replaces an operand.
#define EACH(count) _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < (count); ++i)

static inline int clamped(int value, int last) { return value < 0 ? 0 : value > last ? last : value; }

static inline float value_at(const hg_plane *plane, ptrdiff_t at) {
    return plane->is_bytes ? (float)((const uint8_t *)plane->values)[at] : ((const float *)plane->values)[at];
}

/// The values from x on, of which each is in the row.
static void load_inner(const hg_plane *plane, ptrdiff_t from, int count, float *out) {
    if (plane->is_bytes) {
        const uint8_t *in = (const uint8_t *)plane->values + from;
        if (plane->pixel == 1) {
            EACH(count) out[i] = in[i];
        } else if (plane->pixel == 3) {
            EACH(count) out[i] = in[i * 3];
        } else {
            EACH(count) out[i] = in[i * plane->pixel];
        }
    } else {
        const float *in = (const float *)plane->values + from;
        if (plane->pixel == 1) {
            memcpy(out, in, sizeof *out * (size_t)count);
        } else {
            EACH(count) out[i] = in[i * plane->pixel];
        }
    }
}

static void load(const hg_plane *plane, int y, int x, int count, float *out) {
    const ptrdiff_t row = clamped(y, plane->height - 1) * plane->row;
    const int last = plane->width - 1;
    int done = 0;
    while (done < count && x + done < 0) out[done++] = value_at(plane, row);
    int inner = plane->width - (x + done) < count - done ? plane->width - (x + done) : count - done;
    if (inner > 0) {
        load_inner(plane, row + (x + done) * plane->pixel, inner, out + done);
        done += inner;
    }
    while (done < count) out[done++] = value_at(plane, row + last * plane->pixel);
}

static void store(const hg_plane *plane, int y, int x, int count, const float *values) {
    const ptrdiff_t from = y * plane->row + x * plane->pixel;
    if (plane->is_bytes) {
        uint8_t *out = (uint8_t *)plane->values + from;
        if (plane->pixel == 1) {
            EACH(count) out[i] = (uint8_t)(int)values[i];
        } else {
            for (int i = 0; i < count; ++i) out[i * plane->pixel] = (uint8_t)(int)values[i];
        }
    } else {
        float *out = (float *)plane->values + from;
        EACH(count) out[i * plane->pixel] = values[i];
    }
}

static void across(const float *restrict in, float *restrict out, int width, const float *restrict weights, int taps) {
    for (int i = 0; i < width; ++i) out[i] = in[i] * weights[0];
    int tap = 1;
    for (; tap + 1 < taps; tap += 2) {
        const float one = weights[tap], two = weights[tap + 1];
        for (int i = 0; i < width; ++i) out[i] += in[i + tap] * one + in[i + tap + 1] * two;
    }
    for (; tap < taps; ++tap)
        for (int i = 0; i < width; ++i) out[i] += in[i + tap] * weights[tap];
}

static void down(const float *const *rows, float *restrict out, int width, const float *weights, int taps) {
    const float *restrict middle = rows[taps / 2];
    for (int i = 0; i < width; ++i) out[i] = middle[i] * weights[taps / 2];
    for (int tap = 0; tap < taps / 2; ++tap) {
        // The weights are symmetrical.
        const float *restrict above = rows[tap], *restrict below = rows[taps - 1 - tap];
        const float weight = weights[tap];
        for (int i = 0; i < width; ++i) out[i] += (above[i] + below[i]) * weight;
    }
}
