// The layers of a network that is a list, on maps whose channels are adjacent.
#include <math.h>
#include <string.h>

#include "passive_model.h"

static size_t row_floats(hg_shape shape) { return (size_t)shape.width * (size_t)shape.filled; }

/// Copies a map into the middle of a larger one of zeros.
static void add_border(const hg_layer_record *is, hg_shape in, const float *values, hg_shape bordered, float *out) {
    memset(out, 0, (size_t)bordered.height * row_floats(bordered) * sizeof(float));
    for (int y = 0; y < in.height; ++y)
        memcpy(out + (y + is->top) * row_floats(bordered) + (size_t)is->left * in.filled, values + y * row_floats(in),
               row_floats(in) * sizeof(float));
}

static void run_dense(const hg_kernels *kernels, const hg_layer *layer, hg_shape in, const float *values, float *border, float *out) {
    const hg_layer_record *is = &layer->is;
    const hg_shape to = layer->shape;
    const int has_border = (is->top | is->left | is->bottom | is->right) != 0;
    if (is->kernel_height * is->kernel_width * is->step_down * is->step_across == 1) {
        kernels->dense(&layer->dense, values, in.filled, 0, to.height * to.width, out, to.filled);
        return;
    }
    if (has_border) {
        hg_shape bordered = in;
        bordered.height += (int)(is->top + is->bottom);
        bordered.width += (int)(is->left + is->right);
        add_border(is, in, values, bordered, border);
        values = border;
        in = bordered;
    }
    // A row of the kernel is one run of adjacent floats.
    for (int y = 0; y < to.height; ++y)
        kernels->dense(&layer->dense, values + (size_t)y * is->step_down * row_floats(in), (size_t)is->step_across * in.filled,
                       row_floats(in), to.width, out + y * row_floats(to), to.filled);
}

/// Combines the pixels under the kernel at one place of the result, channel by channel. What is outside counts as zero, and not at all
/// for the greatest.
static void combine(const hg_layer *layer, hg_shape in, const float *values, int y, int x, float *restrict out) {
    const hg_layer_record *is = &layer->is;
    const int channels = in.filled;
    const int first_row = y * (int)is->step_down - (int)is->top, first_column = x * (int)is->step_across - (int)is->left;
    const float share = 1.0f / (float)(is->kernel_height * is->kernel_width), start = is->kind == HG_LAYER_AVERAGE ? 0 : -INFINITY;
    for (int c = 0; c < channels; ++c) out[c] = is->kind == HG_LAYER_DEPTHWISE ? layer->depthwise.bias[c] : start;
    for (int row = 0; row < (int)is->kernel_height; ++row) {
        for (int column = 0; column < (int)is->kernel_width; ++column) {
            const int from_row = first_row + row, from_column = first_column + column;
            if (from_row < 0 || from_row >= in.height || from_column < 0 || from_column >= in.width) continue;
            const float *restrict pixel = values + from_row * row_floats(in) + (size_t)from_column * channels;
            if (is->kind == HG_LAYER_DEPTHWISE) {
                const float *restrict weights = layer->depthwise.weights + ((size_t)row * is->kernel_width + column) * channels;
                for (int c = 0; c < channels; ++c) out[c] += pixel[c] * weights[c];
            } else if (is->kind == HG_LAYER_AVERAGE) {
                for (int c = 0; c < channels; ++c) out[c] += pixel[c] * share;
            } else {
                for (int c = 0; c < channels; ++c) out[c] = pixel[c] > out[c] ? pixel[c] : out[c];
            }
        }
    }
}

static void run_pair(const hg_layer *layer, const float *values, hg_shape second_shape, const float *second, float *out) {
    const hg_shape to = layer->shape;
    // One factor a channel is read anew for each pixel.
    const size_t step = second_shape.height == 1 && second_shape.width == 1 ? 0 : (size_t)to.filled;
    for (size_t pixel = 0; pixel < (size_t)to.height * to.width; ++pixel, values += to.filled, second += step, out += to.filled) {
        if (layer->is.kind == HG_LAYER_ADD) {
            for (int c = 0; c < to.filled; ++c) out[c] = values[c] + second[c];
        } else {
            for (int c = 0; c < to.filled; ++c) out[c] = values[c] * second[c];
        }
    }
}

static float limited(float value, float least, float most) { return value < least ? least : value > most ? most : value; }

static void activate(const hg_layer *layer, float *values) {
    const hg_shape shape = layer->shape;
    const size_t count = (size_t)shape.height * row_floats(shape), channels = (size_t)shape.filled;
    switch (layer->is.activation) {
        case HG_ACTIVATE_SLOPES:
            for (size_t i = 0; i < count; i += channels)
                for (size_t c = 0; c < channels; ++c) values[i + c] = values[i + c] < 0 ? values[i + c] * layer->slopes[c] : values[i + c];
            break;
        case HG_ACTIVATE_RELU6: for (size_t i = 0; i < count; ++i) values[i] = limited(values[i], 0, 6); break;
        case HG_ACTIVATE_SIGMOID: for (size_t i = 0; i < count; ++i) values[i] = 1 / (1 + expf(-values[i])); break;
        case HG_ACTIVATE_HARD_SIGMOID: for (size_t i = 0; i < count; ++i) values[i] = limited(values[i] / 6 + 0.5f, 0, 1); break;
        case HG_ACTIVATE_HARD_SWISH: for (size_t i = 0; i < count; ++i) values[i] *= limited(values[i] / 6 + 0.5f, 0, 1); break;
    }
}

void hg_layer_run(const hg_kernels *kernels, const hg_layer *layer, hg_shape in, const float *values, hg_shape second_shape,
                  const float *second, float *border, float *out) {
    const hg_shape to = layer->shape;
    // The kernels apply slopes themselves.
    const int is_done = layer->is.activation == HG_ACTIVATE_SLOPES && (layer->is.kind == HG_LAYER_DENSE || layer->is_usual);
    if (layer->is.kind == HG_LAYER_DENSE) {
        run_dense(kernels, layer, in, values, border, out);
    } else if (hg_layer_is_pair(layer)) {
        run_pair(layer, values, second_shape, second, out);
    } else if (layer->is_usual) {
        kernels->depthwise(&layer->depthwise, (hg_map){values, in.width, in.height, (size_t)in.filled}, 0, to.height, out, to.filled);
    } else {
        for (int y = 0; y < to.height; ++y)
            for (int x = 0; x < to.width; ++x) combine(layer, in, values, y, x, out + y * row_floats(to) + (size_t)x * to.filled);
    }
    if (!is_done) activate(layer, out);
}
