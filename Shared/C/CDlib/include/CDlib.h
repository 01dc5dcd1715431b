// A C interface to the parts of dlib that Heliograph uses.
//
// All functions are blocking and CPU-bound: call them on a thread for such work. An engine is used by one thread at a time. No
// function lets a C++ exception out: those that can fail return 0, and fill `error`, if it is given, with a line for the log.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /// Side of an aligned face chip, in pixels. A chip has HG_CHIP_SIDE * HG_CHIP_SIDE * 3 bytes (RGB).
    HG_CHIP_SIDE = 150,
    /// Number of values of a face descriptor.
    HG_DESCRIPTOR_LENGTH = 128,
    /// Side of the small grey picture by which chips are compared pixel by pixel.
    HG_SIGNATURE_SIDE = 24,
};

/// A detector, a landmark predictor and a face network.
typedef struct hg_face_engine hg_face_engine;

/// A message for the log, always null-terminated.
typedef struct {
    char text[200];
} hg_error;

/// A detected face. Right and bottom are inside the box. A higher score means a more certain detection.
typedef struct {
    double left, top, right, bottom, score;
} hg_face_box;

/// The five landmarks: the outer and inner corner of each eye (left and right as seen in the picture), and the base of the nose.
typedef struct {
    double right_eye_outer_x, right_eye_outer_y, right_eye_inner_x, right_eye_inner_y;
    double left_eye_outer_x, left_eye_outer_y, left_eye_inner_x, left_eye_inner_y;
    double nose_x, nose_y;
} hg_landmarks;

/// Measures of the central part of a chip, on grey levels 0 to 255.
typedef struct {
    double mean, deviation, sharpness, saturated;
} hg_chip_measures;

/// A picture: RGB, 8 bits a channel, rows packed.
typedef struct {
    const uint8_t *pixels;
    int width, height;
} hg_picture;

/// Builds an engine from the bytes of the two model files.
hg_face_engine *hg_face_engine_create(const void *predictor, size_t predictor_size, const void *network,
                                      size_t network_size, hg_error *error);

/// Copies an engine, for another thread.
hg_face_engine *hg_face_engine_copy(const hg_face_engine *engine, hg_error *error);

void hg_face_engine_destroy(hg_face_engine *engine);

/// Finds faces in the picture, scaled down to `scan_side` pixels on its longer side (never up) and extended on every side by
/// `padding` of its size by repeating the border. Boxes are in coordinates of the given picture, the most certain first. `*count`
/// is the number of faces found, which may exceed `capacity`.
int hg_face_detect(hg_face_engine *engine, hg_picture picture, int scan_side, double padding, hg_face_box *boxes,
                   int capacity, int *count, hg_error *error);

/// Finds the five landmarks of the face in the box.
int hg_face_landmarks(hg_face_engine *engine, hg_picture picture, hg_face_box box, hg_landmarks *landmarks,
                      hg_error *error);

/// Cuts the face out, upright and at a fixed scale.
int hg_face_chip(hg_picture picture, const hg_landmarks *landmarks, uint8_t *chip, hg_error *error);

/// Computes the face descriptor of a chip: 128 values.
int hg_face_describe(hg_face_engine *engine, const uint8_t *chip, float *descriptor, hg_error *error);

/// Measures a chip: mean and standard deviation of grey, sharpness (variance of the Laplacian over variance of
/// grey, so that it does not depend on the light), and the share of pixels that are nearly white.
void hg_chip_measure(const uint8_t *chip, hg_chip_measures *measures);

/// Reduces a chip to HG_SIGNATURE_SIDE squared grey levels with mean 0 and norm 1. The sum of products of two
/// signatures is their correlation.
void hg_chip_signature(const uint8_t *chip, float *signature);

/// The BLAS of the process, e.g. "OpenBLAS 0.3.21 … Haswell"; NULL when it is not OpenBLAS.
const char *hg_blas_name(void);

#ifdef __cplusplus
}
#endif
