// dlib's shape predictor: a cascade of forests of regression trees, each of which compares the grey levels of two pixels near the
// points found so far and moves all points. Follows dlib's arithmetic step by step, so that the points are the same.
#include <math.h>
#include <stdlib.h>

#include "model_file.h"

// A fused product would differ from dlib's in the last bit, and with it the pixel that is read.
#pragma STDC FP_CONTRACT OFF

enum {
    POINTS = 5,
    MAX_CASCADES = 64,
    MAX_TREES = 4096,
    MAX_SPLITS = 255,
    MAX_PIXELS = 4096,
    ARRAYS = 6,
};

typedef struct {
    uint16_t first, second;
} pixel_pair;

struct hg_landmark_model {
    hg_arena arena;
    int cascades, trees, splits, pixels;
    const float *shape;
    const uint16_t *anchors;
    const hg_point *offsets;
    const pixel_pair *pairs;
    const float *thresholds, *leaves;
};

/// Returns whether the numbers stay within the arrays. A tree is full, so that its number of leaves is a power of two.
static int is_consistent(const hg_landmark_model *model, size_t splits) {
    for (size_t i = 0; i < (size_t)model->cascades * model->pixels; ++i)
        if (model->anchors[i] >= POINTS) return 0;
    for (size_t i = 0; i < splits; ++i)
        if (model->pairs[i].first >= model->pixels || model->pairs[i].second >= model->pixels) return 0;
    return 1;
}

static int read_arrays(hg_landmark_model *made, hg_arrays *arrays) {
    const uint32_t *counts = hg_copy_array(arrays, &made->arena, 4, sizeof(uint32_t));
    if (counts == NULL) return 0;
    if (counts[0] < 1 || counts[0] > MAX_CASCADES || counts[1] < 1 || counts[1] > MAX_TREES || counts[2] < 1 || counts[2] > MAX_SPLITS
        || counts[3] < 1 || counts[3] > MAX_PIXELS || (counts[2] & (counts[2] + 1)) != 0)
        return 0;
    made->cascades = (int)counts[0];
    made->trees = (int)counts[1];
    made->splits = (int)counts[2];
    made->pixels = (int)counts[3];
    const size_t trees = (size_t)counts[0] * counts[1], splits = trees * counts[2], pixels = (size_t)counts[0] * counts[3];
    made->shape = hg_copy_array(arrays, &made->arena, 2 * POINTS, sizeof(float));
    made->anchors = hg_copy_array(arrays, &made->arena, pixels, sizeof(uint16_t));
    made->offsets = hg_copy_array(arrays, &made->arena, pixels, sizeof(hg_point));
    made->pairs = hg_copy_array(arrays, &made->arena, splits, sizeof(pixel_pair));
    made->thresholds = hg_copy_array(arrays, &made->arena, splits, sizeof(float));
    made->leaves = hg_copy_array(arrays, &made->arena, (splits + trees) * 2 * POINTS, sizeof(float));
    return made->shape && made->anchors && made->offsets && made->pairs && made->thresholds && made->leaves && arrays->left == 0
        && is_consistent(made, splits);
}

hg_landmark_model *hg_landmarks_load(const void *file, size_t size, hg_model_fault *fault) {
    hg_arrays arrays = {0};
    *fault = hg_model_open(file, size, HG_KIND_LANDMARKS, &arrays);
    if (*fault != HG_MODEL_OK) return NULL;
    hg_landmark_model *made = calloc(1, sizeof *made);
    if (made == NULL || !hg_arena_create(&made->arena, arrays.left + 64 * ARRAYS)) {
        *fault = HG_MODEL_NO_MEMORY;
        hg_landmarks_destroy(made);
        return NULL;
    }
    if (read_arrays(made, &arrays)) return made;
    *fault = HG_MODEL_INCONSISTENT;
    hg_landmarks_destroy(made);
    return NULL;
}

void hg_landmarks_destroy(hg_landmark_model *model) {
    if (model == NULL) return;
    hg_arena_destroy(&model->arena);
    free(model);
}

/// Computes the rotation and scale [c -s; s c] that moves one shape nearest to another: Umeyama's solution, which has this form in
/// the plane.
static void fit(const float *from, const float *to, float *c, float *s) {
    double mean[4] = {0}, along = 0, across = 0, spread = 0;
    for (int i = 0; i < POINTS; ++i) {
        for (int axis = 0; axis < 2; ++axis) {
            mean[axis] += from[2 * i + axis];
            mean[2 + axis] += to[2 * i + axis];
        }
    }
    for (int i = 0; i < 4; ++i) mean[i] /= POINTS;
    for (int i = 0; i < POINTS; ++i) {
        const double fx = from[2 * i] - mean[0], fy = from[2 * i + 1] - mean[1];
        const double tx = to[2 * i] - mean[2], ty = to[2 * i + 1] - mean[3];
        along += fx * tx + fy * ty;
        across += fx * ty - fy * tx;
        spread += fx * fx + fy * fy;
    }
    *c = (float)(spread != 0 ? along / spread : 1);
    *s = (float)(spread != 0 ? across / spread : 0);
}

/// Returns the mean of the three colours; 0 outside the picture, also for a coordinate that is no number.
static float grey(hg_rgb picture, double x, double y) {
    x = floor(x + 0.5);
    y = floor(y + 0.5);
    if (!(x >= 0 && y >= 0 && x < picture.width && y < picture.height)) return 0;
    const uint8_t *pixel = picture.pixels + ((size_t)y * picture.width + (size_t)x) * 3;
    return (float)((pixel[0] + pixel[1] + pixel[2]) / 3);
}

void hg_landmarks_find(const hg_landmark_model *model, hg_rgb picture, int left, int top, int right, int bottom, hg_point *points) {
    const double across = (double)right - left, down = (double)bottom - top;
    float shape[2 * POINTS], levels[MAX_PIXELS];
    for (int i = 0; i < 2 * POINTS; ++i) shape[i] = model->shape[i];
    const pixel_pair *pairs = model->pairs;
    const float *thresholds = model->thresholds, *leaves = model->leaves;
    for (int cascade = 0; cascade < model->cascades; ++cascade) {
        float c, s;
        fit(model->shape, shape, &c, &s);
        for (int i = 0; i < model->pixels; ++i) {
            const size_t at = (size_t)cascade * model->pixels + i;
            const hg_point offset = model->offsets[at];
            const float *anchor = shape + 2 * model->anchors[at];
            const float x = (c * offset.x - s * offset.y) + anchor[0], y = (s * offset.x + c * offset.y) + anchor[1];
            levels[i] = grey(picture, left + across * x, top + down * y);
        }
        for (int tree = 0; tree < model->trees; ++tree) {
            int at = 0;
            while (at < model->splits)
                at = 2 * at + (levels[pairs[at].first] - levels[pairs[at].second] > thresholds[at] ? 1 : 2);
            const float *leaf = leaves + (at - model->splits) * 2 * POINTS;
            for (int i = 0; i < 2 * POINTS; ++i) shape[i] += leaf[i];
            pairs += model->splits;
            thresholds += model->splits;
            leaves += (model->splits + 1) * 2 * POINTS;
        }
    }
    for (int i = 0; i < POINTS; ++i)
        points[i] = (hg_point){(float)(left + across * shape[2 * i]), (float)(top + down * shape[2 * i + 1])};
}
