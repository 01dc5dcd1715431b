// The shapes and the memory of a network that is a list of layers. Every number is checked before it is used.
#include "passive_model.h"

static int filled(int channels) { return (channels + 15) / 16 * 16; }

static size_t floats_of(hg_shape shape) { return (size_t)shape.height * (size_t)shape.width * (size_t)shape.filled; }

/// Returns the size of a result in one direction; 0 when the kernel does not fit.
static int result_side(int side, uint32_t kernel, uint32_t step, uint32_t before, uint32_t after) {
    if (kernel < 1 || kernel > HG_MAX_INPUT_SIDE || step < 1 || step > HG_MAX_STEP || before >= kernel || after >= kernel) return 0;
    const int with_border = side + (int)before + (int)after;
    return with_border >= (int)kernel ? (with_border - (int)kernel) / (int)step + 1 : 0;
}

/// Derives the shape of a layer that reads windows of pixels, and adds its multiply-adds and its copy with a border.
static int plan_windows(hg_passive *model, hg_layer *layer, hg_shape in, uint64_t *multiply_adds) {
    const hg_layer_record *is = &layer->is;
    hg_shape *out = &layer->shape;
    const int mixes = is->kind == HG_LAYER_DENSE;
    if (is->second != 0 || is->channels < 1 || is->channels > HG_MAX_CHANNELS) return 0;
    if (!mixes && is->channels != (uint32_t)in.channels) return 0;
    out->channels = (int)is->channels;
    out->filled = filled(out->channels);
    out->height = result_side(in.height, is->kernel_height, is->step_down, is->top, is->bottom);
    out->width = result_side(in.width, is->kernel_width, is->step_across, is->left, is->right);
    if (out->height == 0 || out->width == 0 || floats_of(*out) > HG_MAX_MAP_FLOATS) return 0;
    // At most 2^24 floats, 2^18 pixels of the kernel and 2^12 channels of the input: less than 64 bits.
    *multiply_adds += (uint64_t)floats_of(*out) * is->kernel_height * is->kernel_width * (mixes ? (uint64_t)in.filled : 1);
    if (*multiply_adds > HG_MAX_MULTIPLY_ADDS) return 0;
    if (mixes && (is->top | is->left | is->bottom | is->right) != 0) {
        in.height += (int)(is->top + is->bottom);
        in.width += (int)(is->left + is->right);
        if (floats_of(in) > HG_MAX_MAP_FLOATS) return 0;
        if (floats_of(in) > model->border) model->border = floats_of(in);
    }
    return 1;
}

/// Derives the shape of a layer of two inputs: the second of a product may be one factor a channel.
static int plan_pair(hg_layer *layer, hg_shape in, hg_shape second) {
    const hg_layer_record *is = &layer->is;
    const uint32_t unused = is->kernel_height | is->kernel_width | is->step_down | is->step_across | is->top | is->left | is->bottom
        | is->right;
    const int is_same = in.height == second.height && in.width == second.width;
    const int is_factor = is->kind == HG_LAYER_MULTIPLY && second.height == 1 && second.width == 1;
    layer->shape = in;
    return unused == 0 && is->channels == (uint32_t)in.channels && in.channels == second.channels && (is_same || is_factor);
}

/// Takes the smallest slot that is free and large enough, else the largest free one, which grows, else a new one.
static int take_slot(hg_passive *model, int *is_free, size_t floats) {
    int best = -1;
    for (int slot = 0; slot < model->slot_count; ++slot) {
        if (!is_free[slot]) continue;
        const int fits = model->slots[slot] >= floats, best_fits = best >= 0 && model->slots[best] >= floats;
        if (best < 0 || (fits && (!best_fits || model->slots[slot] < model->slots[best]))
            || (!fits && !best_fits && model->slots[slot] > model->slots[best]))
            best = slot;
    }
    if (best < 0) model->slots[best = model->slot_count++] = 0;
    if (model->slots[best] < floats) model->slots[best] = floats;
    is_free[best] = 0;
    return best;
}

static int plan_slots(hg_passive *model) {
    int last_use[HG_MAX_SLOTS] = {0}, is_free[HG_MAX_SLOTS] = {0};
    for (int i = 0; i < model->layer_count; ++i) {
        last_use[model->layers[i].is.input] = i;
        if (hg_layer_is_pair(&model->layers[i])) last_use[model->layers[i].is.second] = i;
    }
    // The result is read after the last layer.
    last_use[model->layer_count] = model->layer_count;
    model->input_slot = take_slot(model, is_free, floats_of(model->input));
    for (int i = 0; i < model->layer_count; ++i) {
        model->layers[i].slot = take_slot(model, is_free, floats_of(model->layers[i].shape));
        for (int value = 0; value <= i; ++value)
            if (last_use[value] == i) is_free[value == 0 ? model->input_slot : model->layers[value - 1].slot] = 1;
    }
    size_t total = model->border;
    for (int slot = 0; slot < model->slot_count; ++slot) total += model->slots[slot];
    return total <= HG_MAX_MAP_FLOATS;
}

int hg_passive_plan(hg_passive *model) {
    uint64_t multiply_adds = 0;
    for (int i = 0; i < model->layer_count; ++i) {
        hg_layer *layer = &model->layers[i];
        const hg_layer_record *is = &layer->is;
        if (is->input > (uint32_t)i || is->second > (uint32_t)i || is->activation > HG_ACTIVATE_HARD_SWISH) return 0;
        const hg_shape in = is->input == 0 ? model->input : model->layers[is->input - 1].shape;
        const hg_shape second = is->second == 0 ? model->input : model->layers[is->second - 1].shape;
        if (is->kind < HG_LAYER_DENSE || is->kind > HG_LAYER_GREATEST) return 0;
        if (!(hg_layer_is_pair(layer) ? plan_pair(layer, in, second) : plan_windows(model, layer, in, &multiply_adds))) return 0;
        // What writes a float takes time without multiply-adds, too.
        multiply_adds += floats_of(layer->shape) * (is->activation == HG_ACTIVATE_NOT ? 1 : HG_ACTIVATION_COST);
        if (multiply_adds > HG_MAX_MULTIPLY_ADDS) return 0;
    }
    const hg_shape last = model->layers[model->layer_count - 1].shape;
    return last.height == 1 && last.width == 1 && last.channels == model->facts.classes && plan_slots(model);
}
