#include <math.h>
#include <stdlib.h>

#include "detector.h"

static float probability(float value) { return 1 / (1 + expf(-value)); }

static int decode_cell(const float *cell, int x, int y, int pixels, hg_candidate *made) {
    const float size = (float)pixels;
    const float width = expf(cell[HG_CELL_BOX + 2]) * size, height = expf(cell[HG_CELL_BOX + 3]) * size;
    made->left = ((float)x + cell[HG_CELL_BOX]) * size - width / 2;
    made->top = ((float)y + cell[HG_CELL_BOX + 1]) * size - height / 2;
    made->width = width;
    made->height = height;
    // A file of a stranger may give any number; callers convert these to integers.
    int usable = isfinite(made->left) && isfinite(made->top) && isfinite(width) && isfinite(height);
    for (int i = 0; i < 5; ++i) {
        const float *point = cell + HG_CELL_POINTS + 2 * i;
        made->points[i] = (hg_point){((float)x + point[0]) * size, ((float)y + point[1]) * size};
        usable = usable && isfinite(made->points[i].x) && isfinite(made->points[i].y);
    }
    return usable;
}

static int by_score(const void *a, const void *b) {
    const float first = ((const hg_candidate *)a)->score, second = ((const hg_candidate *)b)->score;
    return (first < second) - (first > second);
}

static float overlap(const hg_candidate *a, const hg_candidate *b) {
    const float width = fminf(a->left + a->width, b->left + b->width) - fmaxf(a->left, b->left);
    const float height = fminf(a->top + a->height, b->top + b->height) - fmaxf(a->top, b->top);
    if (!(width > 0 && height > 0)) return 0;
    const float common = width * height;
    return common / (a->width * a->height + b->width * b->height - common);
}

int hg_decode_candidates(const hg_map levels[HG_LEVELS], float min_score, float max_overlap, hg_candidate *candidates) {
    int count = 0;
    const float least = min_score * min_score;
    for (int level = 0; level < HG_LEVELS; ++level) {
        const hg_map *map = &levels[level];
        for (int y = 0; y < map->height; ++y) {
            for (int x = 0; x < map->width; ++x) {
                const float *cell = map->values + ((size_t)y * map->width + x) * map->stride;
                // Both are at most 1, so neither may be less than their product. Written so that NaN is refused.
                const float class = probability(cell[HG_CELL_CLASS]);
                if (!(class >= least)) continue;
                hg_candidate made = {.score = sqrtf(class * probability(cell[HG_CELL_OBJECT]))};
                if (!(made.score >= min_score) || !decode_cell(cell, x, y, 8 << level, &made)) continue;
                candidates[count++] = made;
            }
        }
    }
    qsort(candidates, (size_t)count, sizeof *candidates, by_score);
    if (count > HG_MAX_CANDIDATES) count = HG_MAX_CANDIDATES;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        int alone = 1;
        for (int k = 0; k < kept && alone; ++k) alone = !(overlap(&candidates[i], &candidates[k]) > max_overlap);
        if (alone) candidates[kept++] = candidates[i];
    }
    return kept;
}
