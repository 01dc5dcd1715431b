// SFace: a MobileNet of thirteen pairs of a depthwise and a pointwise layer, and one layer of 50,176 inputs.
#include <stdlib.h>
#include <string.h>

#include "model_file.h"

enum {
    PAIRS = 13,
    SIDE = HG_FACE_SIDE,
    /// The picture with its border of one pixel.
    BORDERED = SIDE + 2,
    LAST_SIDE = 7,
    LAST_CHANNELS = 1024,
    LAST_INPUTS = LAST_SIDE * LAST_SIDE * LAST_CHANNELS,
    LAST_BLOCKS = LAST_INPUTS / 64,
    ARRAYS = 3 * 27 + 6,
};

/// Channels before the first pair and after each, and the step of each pair.
static const int channels_of[PAIRS + 1] = {32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024};
static const int step_of[PAIRS] = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
/// Floats of the largest map.
static const size_t map_floats = (size_t)SIDE * SIDE * 64;
/// The rows of a depthwise layer that are computed before the pointwise layer reads them: as many as stay in the second-level cache.
static const size_t band_floats = 128 * 1024;

struct hg_recogniser {
    const hg_kernels *kernels;
    hg_arena arena;
    hg_dense first;
    struct {
        hg_depthwise depthwise;
        /// One of them, as the path has it.
        hg_dense pointwise;
        hg_dense8 pointwise8;
    } pairs[PAIRS];
    const float *factors, *summands;
    hg_quantised last;
};

static int read_layers(hg_recogniser *made, hg_arrays *arrays) {
    made->first = (hg_dense){.segments = 3, .depth = 9, .out = channels_of[0]};
    if (!hg_read_dense(arrays, &made->arena, made->kernels, 1, &made->first)) return 0;
    for (int i = 0; i < PAIRS; ++i) {
        hg_depthwise *depthwise = &made->pairs[i].depthwise;
        hg_dense *pointwise = &made->pairs[i].pointwise;
        *depthwise = (hg_depthwise){.channels = channels_of[i], .step = step_of[i]};
        *pointwise = (hg_dense){.segments = 1, .depth = channels_of[i], .out = channels_of[i + 1]};
        if (!hg_read_depthwise(arrays, &made->arena, 1, depthwise)) return 0;
        made->pairs[i].pointwise8 = (hg_dense8){.depth = channels_of[i], .out = channels_of[i + 1]};
        const int done = made->kernels->dense8 != NULL ? hg_read_dense8(arrays, &made->arena, &made->pairs[i].pointwise8)
                                                       : hg_read_dense(arrays, &made->arena, made->kernels, 1, pointwise);
        if (!done) return 0;
    }
    const size_t out = HG_FACE_DESCRIPTOR_LENGTH;
    made->factors = hg_copy_array(arrays, &made->arena, LAST_CHANNELS, sizeof(float));
    made->summands = hg_copy_array(arrays, &made->arena, LAST_CHANNELS, sizeof(float));
    made->last = (hg_quantised){.blocks = LAST_BLOCKS, .out = (int)out};
    made->last.bias = hg_copy_array(arrays, &made->arena, out, sizeof(float));
    made->last.scales = hg_copy_array(arrays, &made->arena, out * LAST_BLOCKS, sizeof(float));
    made->last.zeros = hg_copy_array(arrays, &made->arena, out * LAST_BLOCKS, 1);
    made->last.weights = hg_copy_array(arrays, &made->arena, out * LAST_INPUTS, 1);
    return made->factors && made->summands && made->last.bias && made->last.scales && made->last.zeros && made->last.weights;
}

hg_recogniser *hg_recogniser_load(const void *file, size_t size, hg_path path, hg_model_fault *fault) {
    hg_arrays arrays = {0};
    const hg_kernels *kernels = hg_kernels_of(path);
    *fault = kernels != NULL ? hg_model_open(file, size, HG_KIND_RECOGNISER, &arrays) : HG_MODEL_NO_PATH;
    if (*fault != HG_MODEL_OK) return NULL;
    hg_recogniser *made = calloc(1, sizeof *made);
    if (made == NULL || !hg_arena_create(&made->arena, arrays.left + 64 * ARRAYS)) {
        *fault = HG_MODEL_NO_MEMORY;
        hg_recogniser_destroy(made);
        return NULL;
    }
    made->kernels = kernels;
    if (read_layers(made, &arrays) && arrays.left == 0) return made;
    *fault = HG_MODEL_INCONSISTENT;
    hg_recogniser_destroy(made);
    return NULL;
}

void hg_recogniser_destroy(hg_recogniser *recogniser) {
    if (recogniser == NULL) return;
    hg_arena_destroy(&recogniser->arena);
    free(recogniser);
}

static void fill_picture(const uint8_t *face, float *picture) {
    memset(picture, 0, sizeof(float) * BORDERED * BORDERED * 3);
    for (int y = 0; y < SIDE; ++y) {
        float *row = picture + ((y + 1) * BORDERED + 1) * 3;
        for (int i = 0; i < SIDE * 3; ++i) row[i] = ((float)face[y * SIDE * 3 + i] - 127.5f) * 0.0078125f;
    }
}

/// Runs one pair of layers, band by band of rows.
static hg_map run_pair(const hg_recogniser *recogniser, int pair, hg_map in, float *band, float *space, float *out) {
    const hg_kernels *kernels = recogniser->kernels;
    const hg_depthwise *depthwise = &recogniser->pairs[pair].depthwise;
    const hg_dense *pointwise = &recogniser->pairs[pair].pointwise;
    const int width = in.width / depthwise->step, height = in.height / depthwise->step;
    const size_t stride = hg_stride(depthwise->channels), out_stride = hg_stride(pointwise->out);
    const int fitting = (int)(band_floats / (width * stride)), rows = fitting < 1 ? 1 : fitting;
    for (int y = 0; y < height; y += rows) {
        const int last = y + rows < height ? y + rows : height;
        const int pixels = (last - y) * width;
        float *to = out + (size_t)y * width * out_stride;
        kernels->depthwise(depthwise, in, y, last, band, stride);
        if (kernels->dense8 != NULL) kernels->dense8(&recogniser->pairs[pair].pointwise8, band, stride, pixels, space, to, out_stride);
        else kernels->dense(pointwise, band, stride, 0, pixels, to, out_stride);
    }
    return (hg_map){out, width, height, out_stride};
}

int hg_recogniser_describe(const hg_recogniser *recogniser, hg_scratch *scratch, const uint8_t *face, float *descriptor) {
    const size_t picture_floats = BORDERED * BORDERED * 3;
    // A band has at least 32 channels a pixel.
    const size_t space_floats = hg_dense8_space(band_floats / 32, 32);
    const size_t sizes[] = {picture_floats, map_floats, map_floats, band_floats, LAST_INPUTS, LAST_INPUTS / 4, space_floats};
    enum { PIECES = sizeof sizes / sizeof sizes[0] };
    float *pieces[PIECES];
    size_t total = 0;
    for (int i = 0; i < PIECES; ++i) total += hg_padded(sizes[i] * sizeof(float));
    if (!hg_scratch_reserve(scratch, total)) return 0;
    for (int i = 0; i < PIECES; ++i) pieces[i] = hg_scratch_floats(scratch, sizes[i]);

    const hg_kernels *kernels = recogniser->kernels;
    float *picture = pieces[0], *in = pieces[1], *out = pieces[2], *flat = pieces[4];
    fill_picture(face, picture);
    for (int y = 0; y < SIDE; ++y)
        kernels->dense(&recogniser->first, picture + y * BORDERED * 3, 3, BORDERED * 3, SIDE,
                       in + (size_t)y * SIDE * channels_of[0], channels_of[0]);
    hg_map map = {in, SIDE, SIDE, (size_t)channels_of[0]};
    for (int pair = 0; pair < PAIRS; ++pair) {
        map = run_pair(recogniser, pair, map, pieces[3], pieces[6], out);
        float *other = in;
        in = out;
        out = other;
    }
    // The last layer's weights are ordered by channel, then by place.
    for (int place = 0; place < LAST_SIDE * LAST_SIDE; ++place) {
        const float *values = map.values + place * map.stride;
        for (int c = 0; c < LAST_CHANNELS; ++c)
            flat[c * LAST_SIDE * LAST_SIDE + place] = values[c] * recogniser->factors[c] + recogniser->summands[c];
    }
    kernels->quantised(&recogniser->last, flat, pieces[5], descriptor);
    return 1;
}
