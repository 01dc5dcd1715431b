// The checks of the scan: every path finds what a plain loop finds.
#include "../../Shared/C/CFaceNet/include/CFaceScan.h"

static uint32_t scan_state = 1;

static int scan_random(int limit) { return (int)((scan_state = scan_state * 1664525u + 1013904223u) >> 8) % limit; }

static int32_t plain_score(const int8_t *code, const int8_t *query) {
    int32_t score = 0;
    for (int i = 0; i < HG_CODE_LENGTH; ++i) score += code[i] * query[i];
    return score;
}

/// Compares the matches with those of a plain loop: the best `capacity` scores of at least `min_score`, and each at its place.
static void check_matches(const int8_t *codes, int count, const int8_t *query, int32_t min_score, int capacity, const hg_scan_best *best) {
    int better = 0;
    for (int i = 0; i < count; ++i) better += plain_score(codes + (size_t)i * HG_CODE_LENGTH, query) >= min_score;
    expect(best->count == (better < capacity ? better : capacity), "as many are found as there are", best->count);
    for (int m = 0; m < best->count; ++m) {
        const hg_scan_match match = best->matches[m];
        expect(match.place >= 100 && match.place - 100 < (uint32_t)count, "a place is in the codes", match.place);
        expect(plain_score(codes + (size_t)(match.place - 100) * HG_CODE_LENGTH, query) == match.score, "a score is right", match.score);
        int above = 0;
        for (int i = 0; i < count; ++i) above += plain_score(codes + (size_t)i * HG_CODE_LENGTH, query) > match.score;
        expect(above <= m, "none is better than those before it", above);
        for (int other = 0; other < m; ++other) expect(best->matches[other].place != match.place, "none is found twice", match.place);
    }
}

static void check_scan(hg_path path) {
    for (int round = 0; round < 400; ++round) {
        // An allocation of exactly this size: the address sanitizer sees a read behind it.
        const int count = scan_random(round % 4 == 0 ? 300 : 20), capacity = scan_random(6);
        int8_t *codes = malloc((size_t)count * HG_CODE_LENGTH + 1), query[HG_CODE_LENGTH];
        const int extreme = round % 3 == 0;
        for (int i = 0; i < count * HG_CODE_LENGTH; ++i)
            codes[i] = (int8_t)(extreme ? (scan_random(2) == 0 ? -128 : 127) : scan_random(256) - 128);
        for (int i = 0; i < HG_CODE_LENGTH; ++i)
            query[i] = (int8_t)(extreme ? (scan_random(2) == 0 ? -127 : 127) : scan_random(255) - 127);
        const int32_t min_score = round % 5 == 0 ? INT32_MIN : scan_random(100000) - 50000;
        hg_scan_match *matches = malloc(sizeof *matches * (size_t)(capacity + 1));
        hg_scan_best best = {matches, capacity, 0};
        const size_t half = (size_t)count / 2;
        expect(hg_scan(path, codes, half, 100, query, min_score, &best), "codes are searched", path);
        expect(hg_scan(path, codes + half * HG_CODE_LENGTH, (size_t)count - half, 100 + (uint32_t)half, query, min_score, &best),
               "codes are searched", path);
        check_matches(codes, count, query, min_score, capacity, &best);
        free(matches);
        free(codes);
    }
}

static void check_codes(void) {
    float descriptor[HG_CODE_LENGTH] = {1.0f, -0.5f, 0.004f, NAN, 7.0f, -7.0f};
    int8_t code[HG_CODE_LENGTH];
    hg_code_make(descriptor, code);
    expect(code[0] == 127 && code[1] == -64 && code[2] == 1 && code[4] == 127 && code[5] == -127, "a value is rounded", code[1]);
    descriptor[3] = descriptor[4] = descriptor[5] = 0;
    const double length = hg_code_make(descriptor, code), expected = sqrt(0.5 * 0.5 + 0.492 * 0.492);
    expect(fabs(length - expected) < 1e-4, "the difference is measured", length);
}
