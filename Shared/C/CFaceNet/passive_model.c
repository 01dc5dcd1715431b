// Loads and runs a passive model of liveness: a network that an operator supplies as a list of layers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passive_model.h"

/// The first two arrays of a file: whole numbers, then real ones.
typedef struct {
    uint32_t width, height, layers, classes, live_class, is_blue_first, is_square, output, seed, unused[7];
} whole_numbers;

typedef struct {
    float crop_scale, threshold, mean[3], factor[3], unused[8];
} real_numbers;

static int is_within(float value, float least, float most) { return value >= least && value <= most; }

static int read_facts(hg_passive *model, hg_arrays *arrays, uint32_t *layers) {
    const void *whole = hg_next_array(arrays, 1, sizeof(whole_numbers)), *real = hg_next_array(arrays, 1, sizeof(real_numbers));
    if (whole == NULL || real == NULL) return 0;
    whole_numbers counts;
    real_numbers numbers;
    memcpy(&counts, whole, sizeof counts);
    memcpy(&numbers, real, sizeof numbers);
    const uint32_t sides[] = {counts.width, counts.height};
    for (int i = 0; i < 2; ++i)
        if (sides[i] < HG_MIN_INPUT_SIDE || sides[i] > HG_MAX_INPUT_SIDE) return 0;
    if (counts.layers < 1 || counts.layers > HG_MAX_LAYERS || counts.classes < 1 || counts.classes > HG_MAX_CLASSES) return 0;
    // One result is the share of class 1. Softmax of one result is 1, which no face may be given.
    if (counts.live_class >= (counts.classes == 1 ? 2 : counts.classes) || counts.is_blue_first > 1 || counts.is_square > 1) return 0;
    if (counts.output > HG_OUTPUT_SIGMOID || (counts.output == HG_OUTPUT_SOFTMAX && counts.classes == 1)) return 0;
    if (!is_within(numbers.crop_scale, 0.5f, 8) || !is_within(numbers.threshold, 0.001f, 1)) return 0;
    for (int c = 0; c < 3; ++c)
        if (!isfinite(numbers.mean[c]) || !isfinite(numbers.factor[c])) return 0;
    const float *expected = hg_next_array(arrays, counts.classes, sizeof(float));
    if (expected == NULL) return 0;
    memcpy(model->expected, expected, counts.classes * sizeof(float));
    memcpy(model->mean, numbers.mean, sizeof model->mean);
    memcpy(model->factor, numbers.factor, sizeof model->factor);
    model->facts = (hg_passive_facts){.width = (int)counts.width, .height = (int)counts.height, .layers = (int)counts.layers,
                                      .classes = (int)counts.classes, .live_class = (int)counts.live_class,
                                      .crop_scale = numbers.crop_scale, .threshold = numbers.threshold};
    model->input = (hg_shape){3, 16, (int)counts.height, (int)counts.width};
    model->is_blue_first = (int)counts.is_blue_first;
    model->is_square = (int)counts.is_square;
    model->output = (int)counts.output;
    model->seed = counts.seed;
    *layers = counts.layers;
    return 1;
}

static int read_numbers(hg_passive *model, hg_layer *layer, hg_arrays *arrays) {
    const hg_layer_record *is = &layer->is;
    const hg_shape in = is->input == 0 ? model->input : model->layers[is->input - 1].shape;
    const int has_slopes = is->activation == HG_ACTIVATE_SLOPES;
    const size_t filled = (size_t)layer->shape.filled;
    if (is->kind == HG_LAYER_DENSE) {
        layer->dense = (hg_dense){.segments = (int)is->kernel_height, .depth = (int)is->kernel_width * in.filled, .out = (int)filled};
        return hg_read_dense(arrays, &model->arena, model->kernels, has_slopes, &layer->dense);
    }
    if (is->kind == HG_LAYER_DEPTHWISE) {
        const size_t count = (size_t)is->kernel_height * is->kernel_width * filled;
        layer->depthwise = (hg_depthwise){.channels = (int)filled, .step = (int)is->step_down};
        layer->depthwise.weights = hg_copy_array(arrays, &model->arena, count, sizeof(float));
        layer->depthwise.bias = hg_copy_array(arrays, &model->arena, filled, sizeof(float));
        if (layer->depthwise.weights == NULL || layer->depthwise.bias == NULL) return 0;
        layer->is_usual = is->kernel_height == 3 && is->kernel_width == 3 && is->step_down == is->step_across && is->step_down <= 2
            && is->top == 1 && is->left == 1 && is->bottom == 1 && is->right == 1;
    }
    if (has_slopes) layer->depthwise.slopes = layer->slopes = hg_copy_array(arrays, &model->arena, filled, sizeof(float));
    return !has_slopes || layer->slopes != NULL;
}

static int read_model(hg_passive *model, hg_arrays *arrays) {
    uint32_t layers;
    if (!read_facts(model, arrays, &layers)) return 0;
    const uint8_t *records = hg_next_array(arrays, layers, sizeof(hg_layer_record));
    if (records == NULL) return 0;
    model->layer_count = (int)layers;
    for (uint32_t i = 0; i < layers; ++i) memcpy(&model->layers[i].is, records + i * sizeof(hg_layer_record), sizeof(hg_layer_record));
    if (!hg_passive_plan(model)) return 0;
    for (uint32_t i = 0; i < layers; ++i)
        if (!read_numbers(model, &model->layers[i], arrays)) return 0;
    return arrays->left == 0;
}

hg_passive *hg_passive_load(const void *file, size_t size, hg_path path, hg_model_fault *fault) {
    hg_arrays arrays = {0};
    const hg_kernels *kernels = hg_kernels_of(path);
    *fault = kernels != NULL ? hg_model_open(file, size, HG_KIND_PASSIVE, &arrays) : HG_MODEL_NO_PATH;
    if (*fault != HG_MODEL_OK) return NULL;
    hg_passive *made = calloc(1, sizeof *made);
    if (made == NULL || !hg_arena_create(&made->arena, arrays.left + 3 * 64 * HG_MAX_LAYERS)) {
        *fault = HG_MODEL_NO_MEMORY;
        hg_passive_destroy(made);
        return NULL;
    }
    made->kernels = kernels;
    if (read_model(made, &arrays)) return made;
    *fault = HG_MODEL_INCONSISTENT;
    hg_passive_destroy(made);
    return NULL;
}

void hg_passive_destroy(hg_passive *model) {
    if (model == NULL) return;
    hg_arena_destroy(&model->arena);
    free(model);
}

hg_passive_facts hg_passive_describe(const hg_passive *model) { return model->facts; }
