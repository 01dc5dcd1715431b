// What the instruction sets' files share for hg_scan.
#pragma once

#include "include/CFaceScan.h"
#include "kernels.h"

/// Computes the scores of the codes; the arguments are those of hg_scan.
typedef void hg_scan_codes(const int8_t *codes, size_t count, uint32_t first, const int8_t *query, int32_t min_score, hg_scan_best *best);

hg_scan_codes hg_scan_portable, hg_scan_avx2;

/// Returns the lowest score that can still be added.
static inline int32_t hg_scan_bar(const hg_scan_best *best, int32_t min_score) {
    if (best->count < best->capacity) return min_score;
    const int32_t worst = best->matches[best->capacity - 1].score;
    return worst < min_score ? min_score : worst == INT32_MAX ? worst : worst + 1;
}

/// Adds a match whose score is at least the bar.
static inline void hg_scan_add(hg_scan_best *best, int32_t score, uint32_t place) {
    int at = best->count < best->capacity ? best->count++ : best->capacity - 1;
    for (; at > 0 && best->matches[at - 1].score < score; --at) best->matches[at] = best->matches[at - 1];
    best->matches[at] = (hg_scan_match){score, place};
}
