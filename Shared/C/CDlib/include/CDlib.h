// The few things Heliograph needs of dlib, as a C interface.
//
// Everything here blocks and computes: call it on a thread that is meant for that. An engine is used by one
// thread at a time. No function lets a C++ exception out: those that can fail return 0, and fill `error` with a
// line of text for the log when it is given.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /// Side of an aligned face chip, in pixels. A chip has HG_CHIP_SIDE * HG_CHIP_SIDE * 3 bytes (RGB).
    HG_CHIP_SIDE = 150,
    /// Numbers in a face descriptor.
    HG_DESCRIPTOR_LENGTH = 128,
    /// Side of the small grey picture that stands for a chip when chips are compared pixel by pixel.
    HG_SIGNATURE_SIDE = 24,
};

/// A detector, a landmark predictor and a face network.
typedef struct hg_face_engine hg_face_engine;

/// A message for the log, always terminated.
typedef struct {
    char text[200];
} hg_error;

/// A face as the detector sees it. Right and bottom belong to the box. A greater score is a surer face.
typedef struct {
    double left, top, right, bottom, score;
} hg_face_box;

/// The five landmarks: for either eye (named by where it is in the picture) its outer and inner corner, and the
/// base of the nose.
typedef struct {
    double right_eye_outer_x, right_eye_outer_y, right_eye_inner_x, right_eye_inner_y;
    double left_eye_outer_x, left_eye_outer_y, left_eye_inner_x, left_eye_inner_y;
    double nose_x, nose_y;
} hg_landmarks;

/// What the central part of a chip looks like, on grey levels 0 to 255.
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

/// Finds faces in the picture scaled down to `scan_side` pixels on its longer side (never up), after growing it by
/// `padding` of its size on every side by repeating the border. Boxes come in coordinates of the picture given,
/// the surest first. `*count` is how many there were, which may be more than `capacity`.
int hg_face_detect(hg_face_engine *engine, hg_picture picture, int scan_side, double padding, hg_face_box *boxes,
                   int capacity, int *count, hg_error *error);

/// Finds the five landmarks of the face in the box.
int hg_face_landmarks(hg_face_engine *engine, hg_picture picture, hg_face_box box, hg_landmarks *landmarks,
                      hg_error *error);

/// Cuts the face out, upright and at a set scale.
int hg_face_chip(hg_picture picture, const hg_landmarks *landmarks, uint8_t *chip, hg_error *error);

/// Computes the network's 128 numbers of a chip.
int hg_face_describe(hg_face_engine *engine, const uint8_t *chip, float *descriptor, hg_error *error);

/// Measures a chip: mean and standard deviation of grey, sharpness (variance of the Laplacian over variance of
/// grey, so that it does not depend on the light), and the share of pixels that are nearly white.
void hg_chip_measure(const uint8_t *chip, hg_chip_measures *measures);

/// Reduces a chip to HG_SIGNATURE_SIDE squared grey levels with mean 0 and norm 1. The sum of products of two
/// signatures is their correlation.
void hg_chip_signature(const uint8_t *chip, float *signature);

/// Which BLAS the process runs on, e.g. "OpenBLAS 0.3.21 … Haswell"; NULL when it is not OpenBLAS.
const char *hg_blas_name(void);

#ifdef __cplusplus
}
#endif
