// The bare loop that the face pipeline is measured against: dlib as its own example uses it, on the photos named.
//
// usage: face_reference PREDICTOR NETWORK ROUNDS PHOTO.jpg …
// Prints one line a round: milliseconds a photo.
//
// Build: c++ -std=c++17 -O3 -mavx2 -mfma face_reference.cpp -l:libdlib.a -lblas -llapack -ljpeg -lpng -lpthread
#include <dlib/dnn.h>
#include <dlib/image_io.h>
#include <dlib/image_processing.h>
#include <dlib/image_processing/frontal_face_detector.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace dlib;

template <template <int, template <typename> class, int, typename> class block, int N, template <typename> class BN, typename SUBNET>
using residual = add_prev1<block<N, BN, 1, tag1<SUBNET>>>;
template <template <int, template <typename> class, int, typename> class block, int N, template <typename> class BN, typename SUBNET>
using residual_down = add_prev2<avg_pool<2, 2, 2, 2, skip1<tag2<block<N, BN, 2, tag1<SUBNET>>>>>>;
template <int N, template <typename> class BN, int stride, typename SUBNET>
using block = BN<con<N, 3, 3, 1, 1, relu<BN<con<N, 3, 3, stride, stride, SUBNET>>>>>;
template <int N, typename SUBNET>
using ares = relu<residual<block, N, affine, SUBNET>>;
template <int N, typename SUBNET>
using ares_down = relu<residual_down<block, N, affine, SUBNET>>;
using level0 = ares_down<
    256, ares<256, ares<256, ares_down<256, ares<128, ares<128, ares_down<128, ares<64, ares<64, ares<64, ares_down<64,
    ares<32, ares<32, ares<32, max_pool<3, 3, 2, 2, relu<affine<con<32, 7, 7, 2, 2, input_rgb_image_sized<150>>>>>>>>>>>>>>>>>>>;
using network_type = loss_metric<fc_no_bias<128, avg_pool_everything<level0>>>;

int main(int count, char **arguments) {
    if (count < 5) return 2;
    auto detector = get_frontal_face_detector();
    shape_predictor predictor;
    deserialize(arguments[1]) >> predictor;
    network_type network;
    deserialize(arguments[2]) >> network;
    const int photos = count - 4;
    double checksum = 0;
    // The first round warms up and is not printed.
    for (int round = 0; round <= std::atoi(arguments[3]); ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 4; i < count; ++i) {
            matrix<rgb_pixel> image;
            load_image(image, arguments[i]);
            for (const auto &face : detector(image)) {
                matrix<rgb_pixel> chip;
                extract_image_chip(image, get_face_chip_details(predictor(image, face), 150, 0.25), chip);
                checksum += network(chip)(0);
            }
        }
        const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
        if (round > 0) std::printf("%.4f\n", time.count() / photos);
    }
    std::fprintf(stderr, "checksum %f\n", checksum);
}
