// YuNet: a first convolution, then seventeen pairs of a pointwise and a depthwise layer. Eleven make maps of a cell for 8, 16 and 32
// pixels; three carry what the coarse maps know to the finer ones; three read the results.
#include "detector.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAIRS = 17,
    FIRST_CHANNELS = 16,
    CHANNELS = 64,
    /// The pairs that carry down, from the coarsest map, and those of the results, from the finest.
    CARRY = 11,
    RESULT = 14,
    /// The network halves a picture five times.
    GRAIN = 32,
    ARRAYS = 2 + 4 * PAIRS,
};

static const int inputs_of[PAIRS] = {16, 16, 16, 32, 32, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};
static const int outputs_of[PAIRS] = {16, 16, 32, 32, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 16, 16, 16};
static const float no_slopes[CHANNELS];

struct hg_detector {
    const hg_kernels *kernels;
    hg_arena arena;
    hg_dense first;
    struct {
        hg_dense pointwise;
        hg_depthwise depthwise;
    } pairs[PAIRS];
};

static int read_layers(hg_detector *made, hg_arrays *arrays) {
    made->first = (hg_dense){.segments = 3, .depth = 9, .out = FIRST_CHANNELS};
    if (!hg_read_dense(arrays, &made->arena, made->kernels, 0, &made->first)) return 0;
    made->first.slopes = no_slopes;
    for (int i = 0; i < PAIRS; ++i) {
        hg_dense *pointwise = &made->pairs[i].pointwise;
        hg_depthwise *depthwise = &made->pairs[i].depthwise;
        *pointwise = (hg_dense){.segments = 1, .depth = inputs_of[i], .out = outputs_of[i]};
        *depthwise = (hg_depthwise){.channels = outputs_of[i], .step = 1};
        if (!hg_read_dense(arrays, &made->arena, made->kernels, 0, pointwise)) return 0;
        if (!hg_read_depthwise(arrays, &made->arena, 0, depthwise)) return 0;
        // Negative results become zero, except those that are the network's answer.
        if (i < RESULT) depthwise->slopes = no_slopes;
    }
    return 1;
}

hg_detector *hg_detector_load(const void *file, size_t size, hg_path path, hg_model_fault *fault) {
    hg_arrays arrays = {0};
    const hg_kernels *kernels = hg_kernels_of(path);
    *fault = kernels != NULL ? hg_model_open(file, size, HG_KIND_DETECTOR, &arrays) : HG_MODEL_NO_PATH;
    if (*fault != HG_MODEL_OK) return NULL;
    hg_detector *made = calloc(1, sizeof *made);
    if (made == NULL || !hg_arena_create(&made->arena, arrays.left + 64 * ARRAYS)) {
        *fault = HG_MODEL_NO_MEMORY;
        hg_detector_destroy(made);
        return NULL;
    }
    made->kernels = kernels;
    if (read_layers(made, &arrays) && arrays.left == 0) return made;
    *fault = HG_MODEL_INCONSISTENT;
    hg_detector_destroy(made);
    return NULL;
}

void hg_detector_destroy(hg_detector *detector) {
    if (detector == NULL) return;
    hg_arena_destroy(&detector->arena);
    free(detector);
}

/// The pieces of scratch of one run.
typedef struct {
    float *picture, *maps[3], *levels[HG_LEVELS], *results[HG_LEVELS];
    hg_candidate *candidates;
} workspace;

static int reserve(hg_scratch *scratch, int width, int height, workspace *space) {
    // The first maps have 16 floats for 4 pixels, later ones less.
    const size_t pixels = (size_t)width * height;
    size_t cells_in_all = 0, sizes[11] = {(size_t)(width + 2) * (height + 2) * 3, pixels * 4, pixels * 4, pixels * 4};
    float **pieces[10] = {&space->picture, &space->maps[0], &space->maps[1], &space->maps[2]};
    for (int level = 0; level < HG_LEVELS; ++level) {
        const size_t cells = pixels / 64 >> 2 * level;
        cells_in_all += cells;
        sizes[4 + 2 * level] = cells * CHANNELS;
        sizes[5 + 2 * level] = cells * HG_CELL_VALUES;
        pieces[4 + 2 * level] = &space->levels[level];
        pieces[5 + 2 * level] = &space->results[level];
    }
    sizes[10] = cells_in_all * (sizeof(hg_candidate) / sizeof(float));
    size_t total = 0;
    for (int i = 0; i < 11; ++i) total += hg_padded(sizes[i] * sizeof(float));
    if (!hg_scratch_reserve(scratch, total)) return 0;
    for (int i = 0; i < 10; ++i) *pieces[i] = hg_scratch_floats(scratch, sizes[i]);
    space->candidates = (hg_candidate *)hg_scratch_floats(scratch, sizes[10]);
    return 1;
}

/// Copies a picture into a larger one of floats, blue first, with zeros around it.
static void fill_picture(hg_rgb picture, int width, int height, float *out) {
    for (int y = -1; y <= height; ++y, out += (width + 2) * 3) {
        memset(out, 0, sizeof(float) * (width + 2) * 3);
        if (y < 0 || y >= picture.height) continue;
        const uint8_t *row = picture.pixels + (size_t)y * picture.width * 3;
        for (int x = 0; x < picture.width; ++x)
            for (int channel = 0; channel < 3; ++channel) out[(x + 1) * 3 + channel] = row[x * 3 + 2 - channel];
    }
}

/// Runs one pair of layers. A few rows of the first are followed by those of the second, which so finds its input in the cache.
static hg_map run_pair(const hg_detector *detector, int pair, hg_map in, float *between, float *out) {
    const hg_dense *pointwise = &detector->pairs[pair].pointwise;
    const hg_depthwise *depthwise = &detector->pairs[pair].depthwise;
    const size_t stride = (size_t)pointwise->out;
    const hg_map middle = {between, in.width, in.height, stride};
    const int fitting = (int)(64 * 1024 / (in.width * stride)), band = fitting < 2 ? 2 : fitting;
    for (int y = 0, ready = 0; y < in.height; y += band) {
        const int last = y + band < in.height ? y + band : in.height, needed = last < in.height ? last + 1 : last;
        detector->kernels->dense(pointwise, in.values + (size_t)ready * in.width * in.stride, in.stride, 0,
                                 (needed - ready) * in.width, between + (size_t)ready * in.width * stride, stride);
        ready = needed;
        detector->kernels->depthwise(depthwise, middle, y, last, out + (size_t)y * in.width * stride, stride);
    }
    return (hg_map){out, in.width, in.height, stride};
}

static hg_map halved(const hg_detector *detector, hg_map in, float *out) {
    detector->kernels->pool(in, (int)in.stride, out, in.stride);
    return (hg_map){out, in.width / 2, in.height / 2, in.stride};
}

static void run_network(const hg_detector *detector, const workspace *space, int width, int height, hg_map results[HG_LEVELS]) {
    float *const *maps = space->maps;
    hg_map map = {maps[0], width / 2, height / 2, FIRST_CHANNELS};
    for (int y = 0; y < map.height; ++y)
        detector->kernels->dense(&detector->first, space->picture + (size_t)2 * y * (width + 2) * 3, 6, (size_t)(width + 2) * 3,
                                 map.width, maps[0] + (size_t)y * map.width * map.stride, map.stride);
    map = run_pair(detector, 0, map, maps[1], maps[2]);
    map = halved(detector, map, maps[0]);
    int pair = 1;
    for (; pair < 5; pair += 2) {
        map = run_pair(detector, pair, map, maps[1], maps[2]);
        map = run_pair(detector, pair + 1, map, maps[1], maps[0]);
    }
    hg_map levels[HG_LEVELS];
    for (int level = 0; level < HG_LEVELS; ++level, pair += 2) {
        map = halved(detector, map, maps[2]);
        map = run_pair(detector, pair, map, maps[1], maps[0]);
        map = levels[level] = run_pair(detector, pair + 1, map, maps[1], space->levels[level]);
    }
    for (int level = HG_LEVELS - 1; level >= 0; --level) {
        map = run_pair(detector, CARRY + HG_LEVELS - 1 - level, levels[level], maps[1], maps[2]);
        results[level] = run_pair(detector, RESULT + level, map, maps[1], space->results[level]);
        if (level > 0) detector->kernels->add_doubled(map, CHANNELS, space->levels[level - 1], CHANNELS);
    }
}

int hg_detector_run(const hg_detector *detector, hg_scratch *scratch, hg_rgb picture, hg_map results[HG_LEVELS],
                    hg_candidate **candidates) {
    if (picture.width <= 0 || picture.width > HG_DETECTOR_MAX_SIDE || picture.height <= 0 || picture.height > HG_DETECTOR_MAX_SIDE
        || picture.width * picture.height > HG_DETECTOR_MAX_PIXELS)
        return 0;
    const int width = (picture.width + GRAIN - 1) / GRAIN * GRAIN, height = (picture.height + GRAIN - 1) / GRAIN * GRAIN;
    workspace space;
    if (!reserve(scratch, width, height, &space)) return 0;
    fill_picture(picture, width, height, space.picture);
    run_network(detector, &space, width, height, results);
    *candidates = space.candidates;
    return 1;
}

int hg_detector_find(const hg_detector *detector, hg_scratch *scratch, hg_rgb picture, float min_score, float max_overlap,
                     hg_candidate *candidates, int capacity, int *count) {
    hg_map results[HG_LEVELS];
    hg_candidate *found;
    *count = 0;
    if (!hg_detector_run(detector, scratch, picture, results, &found)) return 0;
    *count = hg_decode_candidates(results, min_score, max_overlap, found);
    if (capacity > 0) memcpy(candidates, found, sizeof *candidates * (size_t)(*count < capacity ? *count : capacity));
    return 1;
}
