// Cuts out what a passive model looks at: a face with what is around it.
#include <math.h>

#include "passive_model.h"

/// The sides of a cut that is larger than any picture.
static const double max_side = 1 << 20;

/// Whole pixels, both corners included.
typedef struct {
    int left, top, right, bottom;
} cut_box;

/// A box around the face that keeps its proportions, as large as fits, and moved into the picture (as Silent-Face-Anti-Spoofing cuts).
static cut_box inside(hg_rgb picture, hg_box box, double scale) {
    const double width = picture.width - 1, height = picture.height - 1;
    scale = fmin(scale, fmin(height / box.height, width / box.width));
    const double half_width = box.width * scale / 2, half_height = box.height * scale / 2;
    double left = box.left + box.width / 2 - half_width, right = left + 2 * half_width;
    double top = box.top + box.height / 2 - half_height, bottom = top + 2 * half_height;
    if (left < 0) right -= left, left = 0;
    if (top < 0) bottom -= top, top = 0;
    if (right > width) left -= right - width, right = width;
    if (bottom > height) top -= bottom - height, bottom = height;
    return (cut_box){(int)fmax(left, 0), (int)fmax(top, 0), (int)fmin(right, width), (int)fmin(bottom, height)};
}

/// A square around the middle of the face; what is outside the picture is black.
static cut_box square(hg_box box, double scale) {
    const double side = fmax(box.width, box.height) * scale;
    const int left = (int)floor(box.left + box.width / 2 - side / 2), top = (int)floor(box.top + box.height / 2 - side / 2);
    return (cut_box){left, top, left + (int)side - 1, top + (int)side - 1};
}

/// The two pixels between which a pixel of the result lies, and the share of the second.
typedef struct {
    int first, second;
    float share;
} place;

static place between(int at, int side, int first, int last) {
    const int length = last - first + 1;
    const double middle = (at + 0.5) * length / side - 0.5;
    int from = (int)floor(middle);
    float share = (float)(middle - from);
    if (from < 0) from = 0, share = 0;
    if (from >= length - 1) from = length - 1, share = 0;
    return (place){first + from, first + from + (from < length - 1), share};
}

static float level(hg_rgb picture, int x, int y, int channel) {
    if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return 0;
    return picture.pixels[((size_t)y * picture.width + x) * 3 + channel];
}

int hg_passive_crop(const hg_passive *model, hg_rgb picture, hg_box box, uint8_t *cut) {
    // The number that was written, such as 2.7: the nearest float is more, and would move some cuts by a pixel.
    const double scale = rint(model->facts.crop_scale * 1e4) / 1e4, limit = max_side / scale;
    // Written so that numbers that are none are refused.
    const int is_box = box.width >= 1 && box.height >= 1 && box.width < limit && box.height < limit && fabsf(box.left) < limit
        && fabsf(box.top) < limit;
    if (!is_box || picture.width < 2 || picture.height < 2) return 0;
    const cut_box of = model->is_square ? square(box, scale) : inside(picture, box, scale);
    if (of.right < of.left || of.bottom < of.top) return 0;
    for (int y = 0; y < model->input.height; ++y) {
        const place down = between(y, model->input.height, of.top, of.bottom);
        for (int x = 0; x < model->input.width; ++x, cut += 3) {
            const place across = between(x, model->input.width, of.left, of.right);
            for (int c = 0; c < 3; ++c) {
                const float above = level(picture, across.first, down.first, c) * (1 - across.share)
                    + level(picture, across.second, down.first, c) * across.share;
                const float below = level(picture, across.first, down.second, c) * (1 - across.share)
                    + level(picture, across.second, down.second, c) * across.share;
                cut[c] = (uint8_t)(above * (1 - down.share) + below * down.share + 0.5f);
            }
        }
    }
    return 1;
}
