// Compares one code with very many: a code is a descriptor of unit length whose values are rounded to 8 bits.
//
// A search reads the codes once, in their order, and computes less than the memory delivers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /// Bytes of a code.
    HG_CODE_LENGTH = 128,
    /// The code's value for 1.0. No value of a unit vector exceeds it, so none is cut off.
    HG_CODE_SCALE = 127,
};

/// A code that was found: its place, and the sum of the products of its values and the query's.
typedef struct {
    int32_t score;
    uint32_t place;
} hg_scan_match;

/// The best matches until now, the best first.
typedef struct {
    hg_scan_match *matches;
    int capacity, count;
} hg_scan_best;

/// Rounds a descriptor to a code and returns the length of the difference, with descriptor and code in units of HG_CODE_SCALE.
float hg_code_make(const float *descriptor, int8_t *code);

/// Adds to `best` those of `count` adjacent codes whose score is at least `min_score`; when it is full, the worst is left out. Of equal
/// scores the first remains.
///
/// `first` is the place of the first code. No value of `query` may be -128. Returns 0 when this processor does not have the path
/// (an hg_path).
int hg_scan(int path, const int8_t *codes, size_t count, uint32_t first, const int8_t *query, int32_t min_score, hg_scan_best *best);

#ifdef __cplusplus
}
#endif
