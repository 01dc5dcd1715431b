// Scores a face by a passive model of liveness.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passive_model.h"

static void fill_input(const hg_passive *model, const uint8_t *picture, float *values) {
    const size_t pixels = (size_t)model->input.height * model->input.width;
    memset(values, 0, pixels * model->input.filled * sizeof(float));
    for (size_t i = 0; i < pixels; ++i, picture += 3, values += model->input.filled)
        for (int c = 0; c < 3; ++c) values[c] = ((float)picture[model->is_blue_first ? 2 - c : c] - model->mean[c]) * model->factor[c];
}

int hg_passive_run(const hg_passive *model, hg_scratch *scratch, const uint8_t *picture, float *results) {
    size_t total = hg_padded(model->border * sizeof(float));
    for (int slot = 0; slot < model->slot_count; ++slot) total += hg_padded(model->slots[slot] * sizeof(float));
    if (!hg_scratch_reserve(scratch, total)) return 0;
    float *slots[HG_MAX_SLOTS], *border = hg_scratch_floats(scratch, model->border);
    for (int slot = 0; slot < model->slot_count; ++slot) slots[slot] = hg_scratch_floats(scratch, model->slots[slot]);
    fill_input(model, picture, slots[model->input_slot]);
    const float *last = NULL;
    for (int i = 0; i < model->layer_count; ++i) {
        const hg_layer *layer = &model->layers[i];
        const uint32_t inputs[2] = {layer->is.input, layer->is.second};
        hg_shape shapes[2];
        const float *values[2];
        for (int k = 0; k < 2; ++k) {
            shapes[k] = inputs[k] == 0 ? model->input : model->layers[inputs[k] - 1].shape;
            values[k] = slots[inputs[k] == 0 ? model->input_slot : model->layers[inputs[k] - 1].slot];
        }
        hg_layer_run(model->kernels, layer, shapes[0], values[0], shapes[1], values[1], border, slots[layer->slot]);
        last = slots[layer->slot];
    }
    memcpy(results, last, (size_t)model->facts.classes * sizeof(float));
    return 1;
}

/// Returns the share of the live class, or the number that is none where a result is no finite number.
static float live_share(const hg_passive *model, const float *results) {
    const int classes = model->facts.classes, live = model->facts.live_class;
    for (int i = 0; i < classes; ++i)
        if (!isfinite(results[i])) return NAN;
    if (classes == 1) {
        const float share = model->output == HG_OUTPUT_SIGMOID ? 1 / (1 + expf(-results[0])) : results[0];
        return live == 1 ? share : 1 - share;
    }
    if (model->output == HG_OUTPUT_AS_IS) return results[live];
    if (model->output == HG_OUTPUT_SIGMOID) return 1 / (1 + expf(-results[live]));
    float greatest = results[0], sum = 0;
    for (int i = 1; i < classes; ++i) greatest = results[i] > greatest ? results[i] : greatest;
    for (int i = 0; i < classes; ++i) sum += expf(results[i] - greatest);
    return expf(results[live] - greatest) / sum;
}

int hg_passive_score(const hg_passive *model, hg_scratch *scratch, hg_rgb picture, hg_box face, float *score) {
    float results[HG_MAX_CLASSES];
    uint8_t *cut = malloc((size_t)model->input.width * model->input.height * 3);
    const int done = cut != NULL && hg_passive_crop(model, picture, face, cut) && hg_passive_run(model, scratch, cut, results);
    free(cut);
    if (!done) return 0;
    const float share = live_share(model, results);
    // A number that is none, or no share, is no sign of life.
    *score = share >= 0 && share <= 1 ? share : 0;
    return 1;
}

int hg_passive_check(const hg_passive *model, hg_scratch *scratch, float *deviation) {
    const size_t size = (size_t)model->input.width * model->input.height * 3;
    uint8_t *picture = malloc(size);
    if (picture == NULL) return 0;
    uint32_t state = model->seed;
    for (size_t i = 0; i < size; ++i) picture[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    float results[HG_MAX_CLASSES];
    const int done = hg_passive_run(model, scratch, picture, results);
    free(picture);
    *deviation = 0;
    for (int i = 0; done && i < model->facts.classes; ++i) {
        const float difference = fabsf(results[i] - model->expected[i]) / fmaxf(1, fabsf(model->expected[i]));
        // Written so that a number that is none stays: neither comparison with one is true.
        if (!(difference <= *deviation) && !isnan(*deviation)) *deviation = difference;
    }
    return done;
}
