// Tests Shared/C/CFaceNet without Swift, so that it can run with the address sanitizer and on another architecture (run.sh).
//
//     driver MODELS [ROUNDS]
//
// Each path of this processor must give the results that reference.py has computed with onnxruntime, and no damaged file may do harm:
// ROUNDS (100) of each kind are tried.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../Shared/C/CFaceNet/detector.h"
#include "golden.h"

static int failures = 0;

static void expect(int holds, const char *what, double value) {
    if (holds) return;
    printf("FAILED: %s (%g)\n", what, value);
    ++failures;
}

static uint8_t wave(int position, int length) { return (uint8_t)(abs(position % (2 * length) - length) * 255 / length); }

static uint8_t *test_picture(int width, int height, uint32_t seed) {
    uint8_t *pixels = malloc((size_t)width * height * 3);
    uint32_t state = seed;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            uint8_t *pixel = pixels + ((size_t)y * width + x) * 3;
            for (int c = 0; c < 3; ++c) pixel[c] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
            if (seed != 0) continue;
            pixel[0] = wave(x + y, 60);
            pixel[1] = wave(2 * y + x, 45);
            pixel[2] = (uint8_t)((wave(x, 30) + wave(y, 75)) / 2);
        }
    }
    return pixels;
}

typedef struct {
    uint8_t *bytes;
    size_t size;
} file;

static file read_file(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *handle = fopen(path, "rb");
    if (handle == NULL) {
        perror(path);
        exit(1);
    }
    fseek(handle, 0, SEEK_END);
    file made = {NULL, (size_t)ftell(handle)};
    rewind(handle);
    made.bytes = malloc(made.size);
    if (fread(made.bytes, 1, made.size, handle) != made.size) exit(1);
    fclose(handle);
    return made;
}

static double greatest(double a, double b) { return b <= a ? a : b; }

static void check_recogniser(file model, hg_path path) {
    static const float *const golden[] = {golden_descriptor_0, golden_descriptor_1};
    hg_model_fault fault;
    hg_recogniser *recogniser = hg_recogniser_load(model.bytes, model.size, path, &fault);
    expect(recogniser != NULL, "the recogniser loads", fault);
    if (recogniser == NULL) return;
    hg_scratch *scratch = hg_scratch_create();
    float descriptor[HG_FACE_DESCRIPTOR_LENGTH];
    double deviation = 0, cosine = 1;
    for (uint32_t seed = 0; seed < 2; ++seed) {
        double product = 0, squares = 0, golden_squares = 0;
        uint8_t *face = test_picture(HG_FACE_SIDE, HG_FACE_SIDE, seed);
        expect(hg_recogniser_describe(recogniser, scratch, face, descriptor), "a face is described", seed);
        for (int i = 0; i < HG_FACE_DESCRIPTOR_LENGTH; ++i) {
            deviation = greatest(deviation, fabs(descriptor[i] - golden[seed][i]));
            product += descriptor[i] * golden[seed][i];
            squares += descriptor[i] * descriptor[i];
            golden_squares += golden[seed][i] * golden[seed][i];
        }
        cosine = fmin(cosine, product / sqrt(squares * golden_squares));
        free(face);
    }
    printf("path %d: descriptors deviate by %.2g, 1 - cosine is %.2g\n", path, deviation, 1 - cosine);
    // Noise, of which one of the two consists, is rounded most.
    if (path == HG_PATH_VNNI) expect(cosine >= 0.995, "rounded descriptors point where those of the reference do", cosine);
    else expect(deviation <= 1e-5, "descriptors are those of the reference", deviation);
    hg_scratch_destroy(scratch);
    hg_recogniser_destroy(recogniser);
}

static double deviation_of_cell(const float *cell, const float *golden) {
    double deviation = 0;
    for (int i = 0; i < HG_CELL_VALUES; ++i) {
        const int is_logit = i == HG_CELL_CLASS || i == HG_CELL_OBJECT;
        deviation = greatest(deviation, fabs((is_logit ? 1 / (1 + exp(-cell[i])) : cell[i]) - golden[i]));
    }
    return deviation;
}

static void check_detector(file model, hg_path path) {
    static const float *const golden[] = {golden_detector_8, golden_detector_16, golden_detector_32};
    hg_model_fault fault;
    hg_detector *detector = hg_detector_load(model.bytes, model.size, path, &fault);
    expect(detector != NULL, "the detector loads", fault);
    if (detector == NULL) return;
    hg_scratch *scratch = hg_scratch_create();
    // A larger picture before leaves its numbers in the scratch, where they must not matter.
    uint8_t *large = test_picture(131, 97, 7), *small = test_picture(64, 32, 0);
    hg_candidate found[16], *space;
    hg_map results[HG_LEVELS];
    int count;
    expect(hg_detector_find(detector, scratch, (hg_rgb){large, 131, 97}, 0.01f, 0.3f, found, 16, &count), "a picture is searched", count);
    expect(hg_detector_run(detector, scratch, (hg_rgb){small, 64, 32}, results, &space), "a small picture is searched", 0);
    double deviation = 0;
    for (int level = 0; level < HG_LEVELS; ++level) {
        const int cells = results[level].width * results[level].height;
        expect(cells == 32 >> 2 * level, "a level has its cells", cells);
        for (int i = 0; i < cells; ++i)
            deviation = greatest(deviation, deviation_of_cell(results[level].values + (size_t)i * HG_CELL_VALUES,
                                                              golden[level] + i * HG_CELL_VALUES));
    }
    printf("path %d: the detector's results deviate by %.2g\n", path, deviation);
    expect(deviation <= 1e-4, "the detector's results are those of the reference", deviation);
    expect(!hg_detector_find(detector, scratch, (hg_rgb){small, 0, 32}, 0.5f, 0.3f, found, 16, &count), "no width is refused", count);
    expect(!hg_detector_find(detector, scratch, (hg_rgb){small, 4097, 1}, 0.5f, 0.3f, found, 16, &count), "a side is limited", count);
    expect(!hg_detector_find(detector, scratch, (hg_rgb){small, 1025, 1024}, 0.5f, 0.3f, found, 16, &count), "a size is limited", count);
    free(large);
    free(small);
    hg_scratch_destroy(scratch);
    hg_detector_destroy(detector);
}

#include "hostile.h"
#include "pictures.h"
#include "scan_checks.h"

int main(int count, char **arguments) {
    if (count != 2 && count != 3) return 2;
    const int rounds = count == 3 ? atoi(arguments[2]) : 100;
    const file recogniser = read_file(arguments[1], "face-recogniser.hgm"), detector = read_file(arguments[1], "face-detector.hgm"),
               landmarks = read_file(arguments[1], "face-landmarks.hgm");
    for (hg_path path = HG_PATH_PORTABLE; path <= HG_PATH_VNNI; ++path) {
        if (!hg_path_available(path)) {
            hg_model_fault fault;
            expect(hg_detector_load(detector.bytes, detector.size, path, &fault) == NULL && fault == HG_MODEL_NO_PATH, "a path fails", path);
            expect(!hg_scan(path, NULL, 0, 0, NULL, 0, NULL), "a path does not search", path);
            continue;
        }
        check_recogniser(recogniser, path);
        check_detector(detector, path);
        check_scan(path);
    }
    check_codes();
    check_reduction();
    check_turns();
    check_alignment();
    check_hostile_files(recogniser, load_recogniser, rounds / 3);
    check_hostile_files(detector, load_detector, 4 * rounds);
    check_hostile_files(landmarks, load_landmarks, rounds);
    free(recogniser.bytes);
    free(detector.bytes);
    free(landmarks.bytes);
    printf(failures == 0 ? "all hold\n" : "%d failures\n", failures);
    return failures != 0;
}
