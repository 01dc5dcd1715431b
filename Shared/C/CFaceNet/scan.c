#include "scan.h"

#include <math.h>

_Static_assert(HG_CODE_LENGTH == HG_FACE_DESCRIPTOR_LENGTH, "a code is that of a descriptor");

float hg_code_make(const float *descriptor, int8_t *code) {
    float squares = 0;
    for (int i = 0; i < HG_CODE_LENGTH; ++i) {
        float value = descriptor[i] * HG_CODE_SCALE;
        // A damaged descriptor may not be of unit length, or a number.
        value = value >= HG_CODE_SCALE ? HG_CODE_SCALE : value >= -HG_CODE_SCALE ? value : -HG_CODE_SCALE;
        const float rounded = rintf(value);
        code[i] = (int8_t)rounded;
        const float difference = descriptor[i] * HG_CODE_SCALE - rounded;
        squares += difference * difference;
    }
    return sqrtf(squares);
}

static hg_scan_codes *scan_of(hg_path path) {
    const hg_kernels *kernels = hg_kernels_of(path);
    if (kernels == NULL) return NULL;
#if defined(__x86_64__)
    if (kernels->path != HG_PATH_PORTABLE) return hg_scan_avx2;
#endif
    return hg_scan_portable;
}

int hg_scan(int path, const int8_t *codes, size_t count, uint32_t first, const int8_t *query, int32_t min_score, hg_scan_best *best) {
    hg_scan_codes *scan = scan_of((hg_path)path);
    if (scan == NULL) return 0;
    if (best->capacity > 0) scan(codes, count, first, query, min_score, best);
    return 1;
}

void hg_scan_portable(const int8_t *codes, size_t count, uint32_t first, const int8_t *query, int32_t min_score, hg_scan_best *best) {
    int16_t wide[HG_CODE_LENGTH];
    for (int i = 0; i < HG_CODE_LENGTH; ++i) wide[i] = query[i];
    int32_t bar = hg_scan_bar(best, min_score);
    for (size_t row = 0; row < count; ++row) {
        const int8_t *code = codes + row * HG_CODE_LENGTH;
        int32_t score = 0;
        for (int i = 0; i < HG_CODE_LENGTH; ++i) score += (int16_t)code[i] * wide[i];
        if (score < bar) continue;
        hg_scan_add(best, score, first + (uint32_t)row);
        bar = hg_scan_bar(best, min_score);
    }
}
