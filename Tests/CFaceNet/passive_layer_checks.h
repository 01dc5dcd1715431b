// Compares each layer of a passive model, of random shapes, with plain loops.
#pragma once

#include "../../Shared/C/CFaceNet/passive_model.h"

static uint32_t layer_state = 1;

static int layer_random(int limit) { return (int)((layer_state = layer_state * 1664525u + 1013904223u) >> 8) % limit; }

static float *random_floats(size_t count) {
    float *made = aligned_alloc(64, hg_padded(count * sizeof(float)));
    for (size_t i = 0; i < count; ++i) made[i] = (float)(layer_random(2001) - 1000) / 500;
    return made;
}

static hg_shape random_shape(int channels, int height, int width) {
    return (hg_shape){channels, (channels + 15) / 16 * 16, height, width};
}

static double plain_activation(double value, uint32_t activation, double slope) {
    const double hard = fmin(1, fmax(0, value / 6 + 0.5));
    switch (activation) {
        case HG_ACTIVATE_SLOPES: return value < 0 ? value * slope : value;
        case HG_ACTIVATE_RELU6: return fmin(6, fmax(0, value));
        case HG_ACTIVATE_SIGMOID: return 1 / (1 + exp(-value));
        case HG_ACTIVATE_HARD_SIGMOID: return hard;
        case HG_ACTIVATE_HARD_SWISH: return value * hard;
    }
    return value;
}

/// One number of a layer's result; `weights` are in the order of the file.
static double plain_number(const hg_layer *layer, hg_shape in, const float *values, hg_shape second_shape, const float *second,
                           const float *weights, const float *bias, const float *slopes, int y, int x, int c) {
    const hg_layer_record *is = &layer->is;
    const int is_factor = second_shape.height == 1 && second_shape.width == 1;
    if (hg_layer_is_pair(layer)) {
        const size_t place = (size_t)(y * in.width + x) * in.filled + c;
        const double other = second[is_factor ? (size_t)c : place];
        return plain_activation(is->kind == HG_LAYER_ADD ? values[place] + other : values[place] * other, is->activation, slopes[c]);
    }
    double sum = is->kind <= HG_LAYER_DEPTHWISE ? bias[c] : is->kind == HG_LAYER_AVERAGE ? 0 : -INFINITY;
    for (int row = 0; row < (int)is->kernel_height; ++row) {
        for (int column = 0; column < (int)is->kernel_width; ++column) {
            const int from_row = y * (int)is->step_down - (int)is->top + row;
            const int from_column = x * (int)is->step_across - (int)is->left + column;
            if (from_row < 0 || from_row >= in.height || from_column < 0 || from_column >= in.width) continue;
            const float *pixel = values + (size_t)(from_row * in.width + from_column) * in.filled;
            const size_t tap = (size_t)row * is->kernel_width + column, taps = (size_t)is->kernel_height * is->kernel_width;
            if (is->kind == HG_LAYER_DENSE)
                for (int k = 0; k < in.filled; ++k) sum += (double)pixel[k] * weights[((size_t)c * taps + tap) * in.filled + k];
            else if (is->kind == HG_LAYER_DEPTHWISE) sum += (double)pixel[c] * weights[tap * in.filled + c];
            else if (is->kind == HG_LAYER_AVERAGE) sum += pixel[c] / (double)taps;
            else sum = fmax(sum, pixel[c]);
        }
    }
    return plain_activation(sum, is->activation, slopes[c]);
}

static void check_passive_layers(hg_path path, int rounds) {
    const hg_kernels *kernels = hg_kernels_of(path);
    double deviation = 0;
    for (int round = 0; round < rounds; ++round) {
        hg_layer layer = {.is = {.kind = (uint32_t)(1 + round % 6), .activation = (uint32_t)layer_random(6)}};
        hg_layer_record *is = &layer.is;
        is->step_down = (uint32_t)(1 + layer_random(3));
        const hg_shape in = random_shape(1 + layer_random(40), 1 + layer_random(12), 1 + layer_random(12));
        const int is_factor = is->kind == HG_LAYER_MULTIPLY && layer_random(2);
        const int is_usual = is->kind == HG_LAYER_DEPTHWISE && layer_random(2);
        const hg_shape second_shape = is_factor ? random_shape(in.channels, 1, 1) : in;
        is->kernel_height = (uint32_t)(1 + layer_random(in.height < 4 ? in.height : 4));
        is->kernel_width = (uint32_t)(1 + layer_random(in.width < 4 ? in.width : 4));
        is->step_across = is_usual ? (is->step_down = 1 + is->step_down % 2) : (uint32_t)(1 + layer_random(3));
        uint32_t *const pads[] = {&is->top, &is->left, &is->bottom, &is->right};
        for (int i = 0; i < 4; ++i) *pads[i] = (uint32_t)layer_random((int)(i % 2 ? is->kernel_width : is->kernel_height));
        if (is_usual) {
            is->kernel_height = is->kernel_width = 3;
            is->top = is->left = is->bottom = is->right = 1;
        }
        layer.is_usual = is_usual;
        layer.shape = is->kind == HG_LAYER_DENSE ? random_shape(1 + layer_random(70), 0, 0) : in;
        if (!hg_layer_is_pair(&layer)) {
            layer.shape.height = (in.height + (int)(is->top + is->bottom - is->kernel_height)) / (int)is->step_down + 1;
            layer.shape.width = (in.width + (int)(is->left + is->right - is->kernel_width)) / (int)is->step_across + 1;
        }
        const size_t depth = (size_t)is->kernel_height * is->kernel_width * (is->kind == HG_LAYER_DENSE ? in.filled : 1);
        const size_t filled = layer.shape.filled, weight_count = filled * depth;
        const size_t out_count = filled * layer.shape.height * layer.shape.width;
        // Weights, bias and slopes as they stand in a file, whose arrays are multiples of 64 bytes.
        float *numbers = random_floats(weight_count + 2 * filled), *values = random_floats((size_t)in.filled * in.height * in.width);
        float *second = random_floats((size_t)in.filled * in.height * in.width), *out = random_floats(out_count);
        float *border = random_floats((size_t)in.filled * (in.height + 8) * (in.width + 8));
        const float *bias = numbers + weight_count, *slopes = bias + filled;
        hg_arena arena;
        hg_arena_create(&arena, (weight_count + 2 * filled) * sizeof(float));
        hg_arrays arrays = {(const uint8_t *)numbers, (weight_count + 2 * filled) * sizeof(float)};
        layer.slopes = slopes;
        const float *fused = is->activation == HG_ACTIVATE_SLOPES ? slopes : NULL;
        layer.depthwise = (hg_depthwise){(int)filled, (int)is->step_down, numbers, bias, fused};
        layer.dense = (hg_dense){.segments = (int)is->kernel_height, .depth = (int)is->kernel_width * in.filled, .out = (int)filled};
        if (is->kind == HG_LAYER_DENSE)
            expect(hg_read_dense(&arrays, &arena, kernels, fused != NULL, &layer.dense), "weights are packed", round);
        hg_layer_run(kernels, &layer, in, values, second_shape, second, border, out);
        for (size_t i = 0; i < out_count; ++i) {
            const int pixel = (int)(i / filled), y = pixel / layer.shape.width, x = pixel % layer.shape.width;
            const double wanted = plain_number(&layer, in, values, second_shape, second, numbers, bias, slopes, y, x, (int)(i % filled));
            deviation = greatest(deviation, fabs(out[i] - wanted) / fmax(1, fabs(wanted)));
        }
        hg_arena_destroy(&arena);
        float *const made[] = {numbers, values, second, out, border};
        for (int i = 0; i < 5; ++i) free(made[i]);
    }
    printf("path %d: single layers of passive models deviate by %.2g\n", path, deviation);
    expect(deviation <= 1e-4, "layers compute what plain loops compute", deviation);
}
