// The only file that includes dlib's headers: it takes half a minute to compile.
#include "CDlib.h"

#ifndef __OPTIMIZE__
#error "dlib is 95 times slower without optimisation: compile this file with -O2"
#endif

#include <dlib/dnn.h>
#include <dlib/image_processing.h>
#include <dlib/image_processing/frontal_face_detector.h>
#include <dlib/image_transforms.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <istream>
#include <streambuf>
#include <vector>

namespace {

// MARK: The face network, with the 29 convolutions that its weights were trained for.

template <template <int, template <typename> class, int, typename> class Block, int N,
          template <typename> class Norm, typename Below>
using residual = dlib::add_prev1<Block<N, Norm, 1, dlib::tag1<Below>>>;

template <template <int, template <typename> class, int, typename> class Block, int N,
          template <typename> class Norm, typename Below>
using residual_down =
    dlib::add_prev2<dlib::avg_pool<2, 2, 2, 2, dlib::skip1<dlib::tag2<Block<N, Norm, 2, dlib::tag1<Below>>>>>>;

template <int N, template <typename> class Norm, int Stride, typename Below>
using block = Norm<dlib::con<N, 3, 3, 1, 1, dlib::relu<Norm<dlib::con<N, 3, 3, Stride, Stride, Below>>>>>;

template <int N, typename Below>
using same = dlib::relu<residual<block, N, dlib::affine, Below>>;
template <int N, typename Below>
using down = dlib::relu<residual_down<block, N, dlib::affine, Below>>;

using stem = dlib::max_pool<
    3, 3, 2, 2,
    dlib::relu<dlib::affine<dlib::con<32, 7, 7, 2, 2, dlib::input_rgb_image_sized<HG_CHIP_SIDE>>>>>;
using level4 = same<32, same<32, same<32, stem>>>;
using level3 = same<64, same<64, same<64, down<64, level4>>>>;
using level2 = same<128, same<128, down<128, level3>>>;
using level1 = same<256, same<256, down<256, level2>>>;
using level0 = down<256, level1>;
using face_network = dlib::loss_metric<dlib::fc_no_bias<HG_DESCRIPTOR_LENGTH, dlib::avg_pool_everything<level0>>>;

// MARK: Pictures of the caller as dlib images, without a copy.

struct picture_view {
    const dlib::rgb_pixel *pixels;
    long rows, columns;
};

// dlib finds these functions by argument-dependent lookup.
long num_rows(const picture_view &view) { return view.rows; }
long num_columns(const picture_view &view) { return view.columns; }
const void *image_data(const picture_view &view) { return view.pixels; }
long width_step(const picture_view &view) { return view.columns * static_cast<long>(sizeof(dlib::rgb_pixel)); }

}  // namespace

namespace dlib {
template <>
struct image_traits<picture_view> {
    typedef rgb_pixel pixel_type;
};
}  // namespace dlib

struct hg_face_engine {
    dlib::frontal_face_detector detector;
    dlib::shape_predictor predictor;
    face_network network;
};

namespace {

class memory_buffer : public std::streambuf {
public:
    memory_buffer(const void *bytes, size_t size) {
        char *begin = const_cast<char *>(static_cast<const char *>(bytes));
        setg(begin, begin, begin + size);
    }
};

void describe_failure(hg_error *error, const char *text) noexcept {
    if (error == nullptr) return;
    std::strncpy(error->text, text, sizeof error->text - 1);
    error->text[sizeof error->text - 1] = 0;
}

/// Runs the body; an exception becomes `error` and 0.
template <typename Body>
int guarded(hg_error *error, Body body) noexcept {
    try {
        body();
        return 1;
    } catch (const std::exception &failure) {
        describe_failure(error, failure.what());
    } catch (...) {
        describe_failure(error, "an exception of an unknown kind");
    }
    return 0;
}

/// Limits BLAS to one thread, because engines run in parallel, not their multiplications. Does nothing without OpenBLAS.
void use_one_blas_thread() noexcept {
    auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
    if (set != nullptr) set(1);
}

inline unsigned char grey_level(const uint8_t *pixel) noexcept {
    return static_cast<unsigned char>((77u * pixel[0] + 150u * pixel[1] + 29u * pixel[2] + 128u) >> 8);
}

/// The picture in grey, scaled down by averaging areas, with its border repeated around it.
dlib::array2d<unsigned char> grey_image(const hg_picture &picture, int width, int height, int border) {
    dlib::array2d<unsigned char> image(height + 2 * border, width + 2 * border);
    std::vector<int> columns(width + 1);
    for (int x = 0; x <= width; ++x) columns[x] = static_cast<int>(static_cast<int64_t>(x) * picture.width / width);
    std::vector<unsigned> sums(width);
    for (int y = 0; y < height; ++y) {
        const int first = static_cast<int>(static_cast<int64_t>(y) * picture.height / height);
        const int last = std::max(first + 1, static_cast<int>(static_cast<int64_t>(y + 1) * picture.height / height));
        std::fill(sums.begin(), sums.end(), 0u);
        for (int row = first; row < last; ++row) {
            const uint8_t *pixels = picture.pixels + static_cast<size_t>(row) * picture.width * 3;
            for (int x = 0; x < width; ++x) {
                unsigned sum = 0;
                const int end = std::max(columns[x] + 1, columns[x + 1]);
                for (int column = columns[x]; column < end; ++column) sum += grey_level(pixels + column * 3);
                sums[x] += sum;
            }
        }
        unsigned char *out = &image[y + border][border];
        for (int x = 0; x < width; ++x) {
            const int area = (std::max(columns[x] + 1, columns[x + 1]) - columns[x]) * (last - first);
            out[x] = static_cast<unsigned char>(sums[x] / area);
        }
        if (border > 0) {
            std::memset(&image[y + border][0], out[0], border);
            std::memset(&image[y + border][border + width], out[width - 1], border);
        }
    }
    for (int y = 0; y < border; ++y) {
        std::memcpy(&image[y][0], &image[border][0], image.nc());
        std::memcpy(&image[border + height + y][0], &image[border + height - 1][0], image.nc());
    }
    return image;
}

dlib::full_object_detection shape_of(const hg_landmarks &marks) {
    auto point = [](double x, double y) { return dlib::point(std::lround(x), std::lround(y)); };
    const std::vector<dlib::point> parts = {
        point(marks.right_eye_outer_x, marks.right_eye_outer_y), point(marks.right_eye_inner_x, marks.right_eye_inner_y),
        point(marks.left_eye_outer_x, marks.left_eye_outer_y), point(marks.left_eye_inner_x, marks.left_eye_inner_y),
        point(marks.nose_x, marks.nose_y),
    };
    return dlib::full_object_detection(dlib::rectangle(), parts);
}

picture_view view_of(const hg_picture &picture) {
    static_assert(sizeof(dlib::rgb_pixel) == 3, "a pixel is three bytes");
    return {reinterpret_cast<const dlib::rgb_pixel *>(picture.pixels), picture.height, picture.width};
}

}  // namespace

extern "C" {

hg_face_engine *hg_face_engine_create(const void *predictor, size_t predictor_size, const void *network,
                                      size_t network_size, hg_error *error) {
    hg_face_engine *engine = nullptr;
    const int done = guarded(error, [&] {
        use_one_blas_thread();
        auto made = std::make_unique<hg_face_engine>();
        made->detector = dlib::get_frontal_face_detector();
        memory_buffer predictor_bytes(predictor, predictor_size);
        std::istream predictor_stream(&predictor_bytes);
        dlib::deserialize(made->predictor, predictor_stream);
        memory_buffer network_bytes(network, network_size);
        std::istream network_stream(&network_bytes);
        dlib::deserialize(made->network, network_stream);
        if (made->predictor.num_parts() != 5) throw std::runtime_error("the landmark model does not have five points");
        engine = made.release();
    });
    return done ? engine : nullptr;
}

hg_face_engine *hg_face_engine_copy(const hg_face_engine *engine, hg_error *error) {
    hg_face_engine *copy = nullptr;
    return guarded(error, [&] { copy = new hg_face_engine(*engine); }) ? copy : nullptr;
}

void hg_face_engine_destroy(hg_face_engine *engine) { delete engine; }

int hg_face_detect(hg_face_engine *engine, hg_picture picture, int scan_side, double padding, hg_face_box *boxes,
                   int capacity, int *count, hg_error *error) {
    *count = 0;
    return guarded(error, [&] {
        const double scale = std::min(1.0, scan_side / static_cast<double>(std::max(picture.width, picture.height)));
        const int width = std::max(1, static_cast<int>(std::lround(picture.width * scale)));
        const int height = std::max(1, static_cast<int>(std::lround(picture.height * scale)));
        const int border = static_cast<int>(std::lround(padding * std::max(width, height)));
        std::vector<dlib::rect_detection> found;
        engine->detector(grey_image(picture, width, height, border), found, 0.0);
        std::sort(found.begin(), found.end(), [](const dlib::rect_detection &a, const dlib::rect_detection &b) {
            return a.detection_confidence > b.detection_confidence;
        });
        const double across = picture.width / static_cast<double>(width);
        const double down = picture.height / static_cast<double>(height);
        for (size_t i = 0; i < found.size() && i < static_cast<size_t>(capacity); ++i) {
            const dlib::rectangle &box = found[i].rect;
            boxes[i] = {(box.left() - border) * across, (box.top() - border) * down, (box.right() + 1 - border) * across - 1,
                        (box.bottom() + 1 - border) * down - 1, found[i].detection_confidence};
        }
        *count = static_cast<int>(found.size());
    });
}

int hg_face_landmarks(hg_face_engine *engine, hg_picture picture, hg_face_box box, hg_landmarks *landmarks,
                      hg_error *error) {
    return guarded(error, [&] {
        const dlib::rectangle rectangle(std::lround(box.left), std::lround(box.top), std::lround(box.right),
                                        std::lround(box.bottom));
        const dlib::full_object_detection shape = engine->predictor(view_of(picture), rectangle);
        auto x = [&](int part) { return static_cast<double>(shape.part(part).x()); };
        auto y = [&](int part) { return static_cast<double>(shape.part(part).y()); };
        *landmarks = {x(0), y(0), x(1), y(1), x(2), y(2), x(3), y(3), x(4), y(4)};
    });
}

int hg_face_chip(hg_picture picture, const hg_landmarks *landmarks, uint8_t *chip, hg_error *error) {
    return guarded(error, [&] {
        dlib::matrix<dlib::rgb_pixel> cut;
        dlib::extract_image_chip(view_of(picture), dlib::get_face_chip_details(shape_of(*landmarks), HG_CHIP_SIDE, 0.25),
                                 cut);
        std::memcpy(chip, &cut(0, 0), HG_CHIP_SIDE * HG_CHIP_SIDE * 3);
    });
}

int hg_face_describe(hg_face_engine *engine, const uint8_t *chip, float *descriptor, hg_error *error) {
    return guarded(error, [&] {
        dlib::matrix<dlib::rgb_pixel> image(HG_CHIP_SIDE, HG_CHIP_SIDE);
        std::memcpy(&image(0, 0), chip, HG_CHIP_SIDE * HG_CHIP_SIDE * 3);
        const dlib::matrix<float, 0, 1> result = engine->network(image);
        if (result.size() != HG_DESCRIPTOR_LENGTH) throw std::runtime_error("the network's answer has a wrong length");
        std::memcpy(descriptor, &result(0), HG_DESCRIPTOR_LENGTH * sizeof(float));
    });
}

void hg_chip_measure(const uint8_t *chip, hg_chip_measures *measures) {
    // The outer 15 pixels are hair and background.
    const int margin = 15, side = HG_CHIP_SIDE - 2 * margin;
    auto grey = [&](int y, int x) { return static_cast<int>(grey_level(chip + ((y + margin) * HG_CHIP_SIDE + x + margin) * 3)); };
    double sum = 0, squares = 0, edges = 0, edge_squares = 0;
    int white = 0;
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            const int level = grey(y, x);
            const int edge = grey(y - 1, x) + grey(y + 1, x) + grey(y, x - 1) + grey(y, x + 1) - 4 * level;
            sum += level;
            squares += level * level;
            edges += edge;
            edge_squares += edge * edge;
            white += level > 245;
        }
    }
    const double pixels = side * side;
    const double mean = sum / pixels, variance = std::max(0.0, squares / pixels - mean * mean);
    const double edge_mean = edges / pixels, edge_variance = std::max(0.0, edge_squares / pixels - edge_mean * edge_mean);
    *measures = {mean, std::sqrt(variance), variance > 0 ? edge_variance / variance : 0, white / pixels};
}

void hg_chip_signature(const uint8_t *chip, float *signature) {
    const int side = HG_SIGNATURE_SIDE, cell = HG_CHIP_SIDE / side, margin = (HG_CHIP_SIDE - cell * side) / 2;
    double total = 0;
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            int sum = 0;
            for (int row = 0; row < cell; ++row)
                for (int column = 0; column < cell; ++column)
                    sum += grey_level(chip + ((margin + y * cell + row) * HG_CHIP_SIDE + margin + x * cell + column) * 3);
            signature[y * side + x] = static_cast<float>(sum);
            total += sum;
        }
    }
    const double mean = total / (side * side);
    double squares = 0;
    for (int i = 0; i < side * side; ++i) {
        signature[i] -= static_cast<float>(mean);
        squares += static_cast<double>(signature[i]) * signature[i];
    }
    const float scale = squares > 0 ? static_cast<float>(1 / std::sqrt(squares)) : 0;
    for (int i = 0; i < side * side; ++i) signature[i] *= scale;
}

const char *hg_blas_name(void) {
    auto name = reinterpret_cast<char *(*)()>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
    return name != nullptr ? name() : nullptr;
}

}  // extern "C"
