// Damages JPEG files, decodes them by CJPEG, and gives what comes out to CFaceNet: fuzz MODELS ROUNDS SEED FILE.jpg …
//
// Prints how many files were decoded, refused, or for libvips, and how many faces were found. The sanitizers find what is wrong.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../Shared/C/CFaceNet/include/CFaceNet.h"
#include "../../Shared/C/CJPEG/include/CJPEG.h"

typedef struct {
    uint8_t *bytes;
    size_t size;
} file;

typedef struct {
    hg_detector *detector;
    hg_landmark_model *landmarks;
    hg_recogniser *recogniser;
    hg_scratch *scratch;
    long faces, described;
} engine;

/// As the probe before a decoder: 40 million pixels.
static const size_t max_pixels = 40000000;
static uint64_t state;

static uint32_t below(uint32_t end) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % end);
}

static file read_file(const char *path) {
    FILE *from = fopen(path, "rb");
    if (from == NULL) {
        perror(path);
        exit(2);
    }
    fseek(from, 0, SEEK_END);
    file made = {NULL, (size_t)ftell(from)};
    rewind(from);
    made.bytes = malloc(made.size);
    if (fread(made.bytes, 1, made.size, from) != made.size) exit(2);
    fclose(from);
    return made;
}

/// A copy of a file in memory of its own size, so that a byte behind it is an error; with one to eight damages, or cut off.
static file damaged(const file *files, int count) {
    const file from = files[below((uint32_t)count)], other = files[below((uint32_t)count)];
    file made = {malloc(from.size), below(8) == 0 ? 4 + below((uint32_t)from.size - 4) : from.size};
    memcpy(made.bytes, from.bytes, made.size);
    made.bytes = realloc(made.bytes, made.size);
    for (uint32_t i = below(8) + 1; i > 0; --i) {
        // Half of it in the headers.
        const uint32_t place = below((uint32_t)(below(2) && made.size > 700 ? 700 : made.size));
        static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xC2, 0xD9, 0xDA, 0xFF};
        const uint32_t left = (uint32_t)made.size - place;
        switch (below(4)) {
        case 0: made.bytes[place] = values[below(8)]; break;
        case 1: made.bytes[place] ^= (uint8_t)(1 << below(8)); break;
        case 2: made.bytes[place] = (uint8_t)below(256); break;
        default: {
            const uint32_t length = below(64) + 1, start = below((uint32_t)other.size - 64);
            memcpy(made.bytes + place, other.bytes + start, length < left ? length : left);
        }
        }
    }
    return made;
}

/// The size in the first frame header; 0 without one.
static void frame_size(file of, unsigned *width, unsigned *height) {
    *width = *height = 0;
    for (size_t at = 2; at + 9 < of.size && of.bytes[at] == 0xFF;) {
        const uint8_t marker = of.bytes[at + 1];
        const size_t length = (size_t)of.bytes[at + 2] << 8 | of.bytes[at + 3];
        if (marker >= 0xC0 && marker <= 0xC2) {
            *height = (unsigned)of.bytes[at + 5] << 8 | of.bytes[at + 6];
            *width = (unsigned)of.bytes[at + 7] << 8 | of.bytes[at + 8];
            return;
        }
        at += 2 + length;
    }
}

static void analyse(engine *by, hg_jpeg_picture picture) {
    const int side = picture.width > picture.height ? picture.width : picture.height, small = side > 160 ? 160 : side;
    const int width = (int)fmax(1, picture.width * small / side), height = (int)fmax(1, picture.height * small / side);
    uint8_t *reduced = malloc((size_t)width * height * 3), face[HG_FACE_SIDE * HG_FACE_SIDE * 3];
    const hg_rgb whole = {picture.pixels, picture.width, picture.height};
    hg_candidate found[4];
    int count = 0;
    if (!hg_picture_reduce(whole, width, height, reduced)) abort();
    if (!hg_detector_find(by->detector, by->scratch, (hg_rgb){reduced, width, height}, 0.5f, 0.3f, found, 4, &count)) abort();
    by->faces += count > 0;
    if (count > 0) {
        const float scale = (float)side / (float)small;
        hg_point points[5];
        hg_landmarks_find(by->landmarks, whole, (int)(found[0].left * scale), (int)(found[0].top * scale),
                          (int)((found[0].left + found[0].width) * scale), (int)((found[0].top + found[0].height) * scale), points);
        hg_face_measures measures;
        float signature[HG_SIGNATURE_SIDE * HG_SIGNATURE_SIDE], descriptor[HG_FACE_DESCRIPTOR_LENGTH];
        if (hg_face_align(whole, points[2], points[0], points[4], face)) {
            hg_face_measure(face, &measures);
            hg_face_signature(face, signature);
            // The longest step by far, and its input is of one form: one in twenty.
            if (by->faces % 20 == 1) {
                if (!hg_recogniser_describe(by->recogniser, by->scratch, face, descriptor)) abort();
                for (int i = 0; i < HG_FACE_DESCRIPTOR_LENGTH; ++i)
                    if (!isfinite(descriptor[i])) abort();
                by->described++;
            }
        }
    }
    free(reduced);
}

static file model(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.hgm", folder, name);
    return read_file(path);
}

static engine load(const char *folder) {
    file detector = model(folder, "face-detector"), landmarks = model(folder, "face-landmarks"),
         recogniser = model(folder, "face-recogniser");
    hg_model_fault fault;
    engine made = {
        hg_detector_load(detector.bytes, detector.size, HG_PATH_BEST, &fault),
        hg_landmarks_load(landmarks.bytes, landmarks.size, &fault),
        hg_recogniser_load(recogniser.bytes, recogniser.size, HG_PATH_BEST, &fault), hg_scratch_create(), 0, 0,
    };
    if (made.detector == NULL || made.landmarks == NULL || made.recogniser == NULL || made.scratch == NULL) exit(2);
    free(detector.bytes);
    free(landmarks.bytes);
    free(recogniser.bytes);
    return made;
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    engine by = load(arguments[1]);
    state = strtoull(arguments[3], NULL, 10);
    const int files = count - 4;
    file *seeds = malloc(sizeof *seeds * (size_t)files);
    for (int i = 0; i < files; ++i) seeds[i] = read_file(arguments[4 + i]);
    long outcomes[4] = {0}, too_large = 0;
    for (long round = strtol(arguments[2], NULL, 10); round > 0; --round) {
        file tried = damaged(seeds, files);
        static const int sides[] = {1, 33, 160, 800};
        hg_jpeg_order order = {sides[below(4)], (int)below(8) + 1, 0, 0};
        frame_size(tried, &order.width, &order.height);
        if ((size_t)order.width * order.height > max_pixels) {
            ++too_large;
        } else {
            hg_jpeg_picture picture;
            char message[HG_JPEG_MESSAGE];
            const hg_jpeg_fault fault = hg_jpeg_decode(tried.bytes, tried.size, order, &picture, message);
            outcomes[fault]++;
            if (fault == HG_JPEG_OK) {
                if (picture.width < 1 || picture.height < 1 || picture.width > order.max_side || picture.height > order.max_side) abort();
                analyse(&by, picture);
            }
            free(picture.pixels);
        }
        free(tried.bytes);
    }
    printf("%ld decoded, %ld for libvips, %ld corrupt, %ld without memory, %ld too large; %ld faces, %ld described\n", outcomes[HG_JPEG_OK],
           outcomes[HG_JPEG_OTHER_COLOURS], outcomes[HG_JPEG_CORRUPT], outcomes[HG_JPEG_NO_MEMORY], too_large, by.faces, by.described);
    for (int i = 0; i < files; ++i) free(seeds[i].bytes);
    free(seeds);
    hg_detector_destroy(by.detector);
    hg_landmarks_destroy(by.landmarks);
    hg_recogniser_destroy(by.recogniser);
    hg_scratch_destroy(by.scratch);
}
