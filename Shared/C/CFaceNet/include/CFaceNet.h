// Finds faces, their landmarks and their descriptors in pictures: YuNet, dlib's five points, and SFace, without a library. Cuts faces
// out, upright and at a fixed scale, and measures them.
//
// All functions block and compute: call them on a thread for such work. A loaded model does not change, and any number of threads
// may use it at the same time, each with a scratch of its own. Model files are checked as if an attacker had made them: a file that
// is not as it should be is refused, and no file makes a function read or write beyond its memory. Numbers in it are not judged; a
// caller that does not trust the file compares its SHA-256.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "CFaceScan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /// Side of the aligned picture of a face that the recogniser reads, in pixels.
    HG_FACE_SIDE = 112,
    /// Number of values of a face descriptor.
    HG_FACE_DESCRIPTOR_LENGTH = 128,
    /// Maximum size of the picture that the detector reads: it needs some 70 bytes a pixel.
    HG_DETECTOR_MAX_PIXELS = 1024 * 1024,
    HG_DETECTOR_MAX_SIDE = 4096,
    /// Side of the small grey picture by which faces are compared pixel by pixel.
    HG_SIGNATURE_SIDE = 24,
};

/// The instruction sets for which the kernels are compiled.
typedef enum {
    /// The best that this processor has.
    HG_PATH_BEST,
    /// Vectors of four floats: SSE2, NEON.
    HG_PATH_PORTABLE,
    HG_PATH_AVX2,
    HG_PATH_AVX512,
    /// AVX-512 with 8-bit products (VNNI) in the recogniser, whose descriptors are rounded: their cosine with others is 0.999 and more.
    HG_PATH_VNNI,
} hg_path;

typedef enum {
    HG_MODEL_OK,
    HG_MODEL_WRONG_SIZE,
    HG_MODEL_WRONG_MAGIC,
    HG_MODEL_WRONG_VERSION,
    HG_MODEL_WRONG_KIND,
    HG_MODEL_DAMAGED,
    /// The arrays contradict each other.
    HG_MODEL_INCONSISTENT,
    HG_MODEL_NO_MEMORY,
    /// This processor does not have the path.
    HG_MODEL_NO_PATH,
} hg_model_fault;

typedef struct hg_recogniser hg_recogniser;
typedef struct hg_detector hg_detector;
typedef struct hg_landmark_model hg_landmark_model;

/// The working memory of one thread, which grows to what the largest picture needs.
typedef struct hg_scratch hg_scratch;

/// RGB, 8 bits a channel, rows packed.
typedef struct {
    const uint8_t *pixels;
    int width, height;
} hg_rgb;

typedef struct {
    float x, y;
} hg_point;

/// A face that the detector has found, in pixels of the picture. Points: right eye, left eye, nose, right and left corner of the
/// mouth, of the person.
typedef struct {
    float left, top, width, height;
    float score;
    hg_point points[5];
} hg_candidate;

/// Measures of the central part of an aligned face, on grey levels 0 to 255.
typedef struct {
    double mean, deviation;
    /// The variance of the Laplacian divided by that of the grey levels, so that it does not depend on the light.
    double sharpness;
    /// The share of pixels that are nearly white.
    double saturated;
} hg_face_measures;

/// Returns whether this processor has the path.
int hg_path_available(hg_path path);

/// Returns the path that HG_PATH_BEST means.
hg_path hg_best_path(void);

hg_scratch *hg_scratch_create(void);
void hg_scratch_destroy(hg_scratch *scratch);

/// Loads the flat file of a recogniser and copies what it needs; NULL and `*fault` on failure.
hg_recogniser *hg_recogniser_load(const void *file, size_t size, hg_path path, hg_model_fault *fault);
void hg_recogniser_destroy(hg_recogniser *recogniser);

/// Computes the descriptor, not normalised, of an aligned face of HG_FACE_SIDE squared RGB pixels. Returns 0 without memory.
int hg_recogniser_describe(const hg_recogniser *recogniser, hg_scratch *scratch, const uint8_t *face, float *descriptor);

/// Loads the flat file of a detector and copies what it needs; NULL and `*fault` on failure.
hg_detector *hg_detector_load(const void *file, size_t size, hg_path path, hg_model_fault *fault);
void hg_detector_destroy(hg_detector *detector);

/// Finds the faces with at least this score, the most certain first; of two that overlap by more than `max_overlap` (of their
/// union) the better remains. `*count` is the number of faces, which may exceed `capacity`. Returns 0 without memory, or when the
/// picture's size is not positive or too large.
int hg_detector_find(const hg_detector *detector, hg_scratch *scratch, hg_rgb picture, float min_score, float max_overlap,
                     hg_candidate *candidates, int capacity, int *count);

/// Loads the flat file of the landmark model and copies what it needs; NULL and `*fault` on failure.
hg_landmark_model *hg_landmarks_load(const void *file, size_t size, hg_model_fault *fault);
void hg_landmarks_destroy(hg_landmark_model *model);

/// Finds the five points of the face in the box, whose corner pixels are inside: outer and inner corner of the eye on the picture's
/// right, the same on its left, base of the nose.
void hg_landmarks_find(const hg_landmark_model *model, hg_rgb picture, int left, int top, int right, int bottom, hg_point *points);

/// Scales a picture to `width` by `height` pixels by averaging areas. Each is at least 1 and at most that of the picture. Returns 0
/// without memory, or for another size.
int hg_picture_reduce(hg_rgb picture, int width, int height, uint8_t *reduced);

/// Copies a picture to `mirrored`, which has its size, with left and right exchanged.
void hg_picture_mirror(hg_rgb picture, uint8_t *mirrored);

/// Copies a picture to `turned`, turned clockwise by 1, 2 or 3 quarters of a circle; width and height are exchanged unless it is 2.
void hg_picture_turn(hg_rgb picture, int quarters, uint8_t *turned);

/// Cuts a face out: HG_FACE_SIDE squared RGB pixels, rotated and scaled so that the centres of the eyes (of the one on the picture's
/// left, then of the other) and the base of the nose come as near as possible to where the recogniser was calibrated. What is
/// outside the picture is black. Returns 0 when the points are one, or not finite.
int hg_face_align(hg_rgb picture, hg_point left_eye, hg_point right_eye, hg_point nose, uint8_t *face);

void hg_face_measure(const uint8_t *face, hg_face_measures *measures);

/// Reduces an aligned face to HG_SIGNATURE_SIDE squared grey levels with mean 0 and norm 1. The sum of products of two signatures is
/// their correlation.
void hg_face_signature(const uint8_t *face, float *signature);

#ifdef __cplusplus
}
#endif
