#include <math.h>
#include <string.h>

#include "include/CFaceNet.h"

enum {
    SIDE = HG_FACE_SIDE,
    /// Their squared number, times 255, fits 16 bits.
    MAX_SAMPLES = 16,
    /// Places in a picture below this side, in 65,536ths of a pixel, fit 32 bits.
    FIXED_SIDE = 16384,
};

/// Where the centres of the eyes and the base of the nose are in an aligned face. Fitted to dlib's points, so that faces are as those
/// with which SFace was trained.
static const hg_point places[3] = {{36.83f, 54.33f}, {73.78f, 53.57f}, {56.06f, 80.38f}};

/// A similarity from an aligned face to the picture: (x, y) is at (a x - b y + left, b x + a y + top).
typedef struct {
    double a, b, left, top;
} similarity;

/// Fits the similarity that takes the points nearest to their places (least squares in the aligned face), and inverts it.
static int fit(const hg_point points[3], similarity *made) {
    double x = 0, y = 0, to_x = 0, to_y = 0, spread = 0, along = 0, across = 0;
    for (int i = 0; i < 3; ++i) {
        x += points[i].x / 3.0;
        y += points[i].y / 3.0;
        to_x += places[i].x / 3.0;
        to_y += places[i].y / 3.0;
    }
    for (int i = 0; i < 3; ++i) {
        const double px = points[i].x - x, py = points[i].y - y, qx = places[i].x - to_x, qy = places[i].y - to_y;
        spread += px * px + py * py;
        along += px * qx + py * qy;
        across += px * qy - py * qx;
    }
    const double squared = along * along + across * across;
    // The inverse of (along, across) / spread.
    made->a = spread * along / squared;
    made->b = -spread * across / squared;
    made->left = x - (made->a * to_x - made->b * to_y);
    made->top = y - (made->b * to_x + made->a * to_y);
    return spread > 0 && squared > 0 && isfinite(made->a) && isfinite(made->b) && isfinite(made->left) && isfinite(made->top);
}

/// Adds a share of the colour of a pixel; black outside.
static inline void add_pixel(hg_rgb picture, int x, int y, float share, float sum[3]) {
    if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return;
    const uint8_t *pixel = picture.pixels + ((size_t)y * picture.width + x) * 3;
    for (int c = 0; c < 3; ++c) sum[c] += share * pixel[c];
}

/// Adds the colour at a place between pixel centres, by bilinear interpolation.
static inline void add_between(hg_rgb picture, double x, double y, float sum[3]) {
    if (!(x > -1 && y > -1 && x < picture.width && y < picture.height)) return;
    // Truncation rounds down, because neither sum is negative.
    const int left = (int)(x + 1) - 1, top = (int)(y + 1) - 1;
    const float fx = (float)(x - left), fy = (float)(y - top);
    add_pixel(picture, left, top, (1 - fx) * (1 - fy), sum);
    add_pixel(picture, left + 1, top, fx * (1 - fy), sum);
    add_pixel(picture, left, top + 1, (1 - fx) * fy, sum);
    add_pixel(picture, left + 1, top + 1, fx * fy, sum);
}

/// Adds the colour of the pixel at a place.
static inline void add_nearest(hg_rgb picture, double x, double y, float sum[3]) {
    if (x > -0.5 && y > -0.5 && x < picture.width && y < picture.height) add_pixel(picture, (int)(x + 0.5), (int)(y + 0.5), 1, sum);
}

/// Whether all samples of a pixel whose corner samples are these lie inside, so far that the byte behind each is inside, too.
static inline int is_inside(hg_rgb picture, double x, double y, double across_x, double across_y) {
    // The samples are a square: its other corners follow by a quarter turn.
    const double xs[4] = {x, x + across_x, x - across_y, x + across_x - across_y};
    const double ys[4] = {y, y + across_y, y + across_x, y + across_y + across_x};
    for (int i = 0; i < 4; ++i)
        if (!(xs[i] >= 0 && ys[i] >= 0 && xs[i] < picture.width - 2 && ys[i] < picture.height - 2)) return 0;
    return 1;
}

/// Adds the colours of `samples` squared pixels, which are all inside. The step from one to the next is (`step_x`, `step_y`).
static inline void add_square(hg_rgb picture, double x, double y, double step_x, double step_y, int samples, float sum[3]) {
    // Places in 65,536ths of a pixel; red and blue in one sum, which 256 samples cannot overflow.
    const double unit = 65536;
    const int32_t to_x = (int32_t)lrint(step_x * unit), to_y = (int32_t)lrint(step_y * unit);
    int32_t left = (int32_t)lrint((x + 0.5) * unit), top = (int32_t)lrint((y + 0.5) * unit);
    uint32_t red_and_blue = 0, green = 0;
    for (int row = 0; row < samples; ++row, left -= to_y, top += to_x) {
        int32_t px = left, py = top;
        for (int column = 0; column < samples; ++column, px += to_x, py += to_y) {
            const uint8_t *pixel = picture.pixels + ((size_t)(py >> 16) * (size_t)picture.width + (size_t)(px >> 16)) * 3;
            uint32_t levels;
            memcpy(&levels, pixel, sizeof levels);
            red_and_blue += levels & 0xFF00FF;
            green += levels >> 8 & 0xFF;
        }
    }
    sum[0] = (float)(red_and_blue & 0xFFFF);
    sum[1] = (float)green;
    sum[2] = (float)(red_and_blue >> 16);
}

/// Adds the colours of the pixel (x, y) of an aligned face: `samples` squared places.
static void add_samples(hg_rgb picture, similarity to, int x, int y, int samples, float sum[3]) {
    const double first_u = x + 0.5 / samples - 0.5, first_v = y + 0.5 / samples - 0.5, step = 1.0 / samples;
    const double left = to.a * first_u - to.b * first_v + to.left, top = to.b * first_u + to.a * first_v + to.top;
    if (samples > 2 && picture.width < FIXED_SIDE && picture.height < FIXED_SIDE
        && is_inside(picture, left, top, to.a * (samples - 1) * step, to.b * (samples - 1) * step)) {
        add_square(picture, left, top, to.a * step, to.b * step, samples, sum);
        return;
    }
    for (int row = 0; row < samples; ++row) {
        for (int column = 0; column < samples; ++column) {
            const double px = left + (to.a * column - to.b * row) * step, py = top + (to.b * column + to.a * row) * step;
            if (samples <= 2) add_between(picture, px, py, sum);
            else add_nearest(picture, px, py, sum);
        }
    }
}

int hg_face_align(hg_rgb picture, hg_point left_eye, hg_point right_eye, hg_point nose, uint8_t *face) {
    const hg_point points[3] = {left_eye, right_eye, nose};
    similarity to;
    if (!fit(points, &to)) return 0;
    // A pixel of a face that is made smaller is the mean of as many samples as it covers pixels. Many of them need no interpolation.
    const double scale = hypot(to.a, to.b);
    const int samples = scale > MAX_SAMPLES ? MAX_SAMPLES : scale > 1 ? (int)ceil(scale) : 1;
    const float share = 1.0f / (float)(samples * samples);
    for (int y = 0; y < SIDE; ++y) {
        for (int x = 0; x < SIDE; ++x) {
            float sum[3] = {0, 0, 0};
            add_samples(picture, to, x, y, samples, sum);
            uint8_t *out = face + (y * SIDE + x) * 3;
            for (int c = 0; c < 3; ++c) {
                const float level = sum[c] * share + 0.5f;
                out[c] = (uint8_t)(level < 255 ? level : 255);
            }
        }
    }
    return 1;
}

static int grey(const uint8_t *face, int x, int y) {
    const uint8_t *pixel = face + (y * SIDE + x) * 3;
    return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8;
}

void hg_face_measure(const uint8_t *face, hg_face_measures *measures) {
    // Beside and above are hair and background.
    enum { LEFT = 15, RIGHT = SIDE - 14, TOP = 33, BOTTOM = SIDE - 1, PIXELS = (RIGHT - LEFT) * (BOTTOM - TOP), WHITE = 245 };
    double sum = 0, squares = 0, edges = 0, edge_squares = 0;
    int white = 0;
    for (int y = TOP; y < BOTTOM; ++y) {
        for (int x = LEFT; x < RIGHT; ++x) {
            const int level = grey(face, x, y);
            const int edge = grey(face, x, y - 1) + grey(face, x, y + 1) + grey(face, x - 1, y) + grey(face, x + 1, y) - 4 * level;
            sum += level;
            squares += level * level;
            edges += edge;
            edge_squares += edge * edge;
            white += level > WHITE;
        }
    }
    const double mean = sum / PIXELS, variance = fmax(0, squares / PIXELS - mean * mean);
    const double edge_mean = edges / PIXELS, edge_variance = fmax(0, edge_squares / PIXELS - edge_mean * edge_mean);
    *measures = (hg_face_measures){mean, sqrt(variance), variance > 0 ? edge_variance / variance : 0, (double)white / PIXELS};
}

void hg_face_signature(const uint8_t *face, float *signature) {
    // The middle of the face: further out a photo that is cut tightly is black.
    enum { CELLS = HG_SIGNATURE_SIDE, CELL = 3, LEFT = 20, TOP = 28, COUNT = CELLS * CELLS };
    double total = 0, squares = 0;
    for (int y = 0; y < CELLS; ++y) {
        for (int x = 0; x < CELLS; ++x) {
            int sum = 0;
            for (int row = 0; row < CELL; ++row)
                for (int column = 0; column < CELL; ++column) sum += grey(face, LEFT + x * CELL + column, TOP + y * CELL + row);
            signature[y * CELLS + x] = (float)sum;
            total += sum;
        }
    }
    const float mean = (float)(total / COUNT);
    for (int i = 0; i < COUNT; ++i) {
        signature[i] -= mean;
        squares += (double)signature[i] * signature[i];
    }
    const float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (int i = 0; i < COUNT; ++i) signature[i] *= scale;
}
