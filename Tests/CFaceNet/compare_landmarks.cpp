// Compares hg_landmarks_find with dlib's own shape predictor on the boxes of a list: lines of `picture.ppm left top right bottom`.
//
//     compare_landmarks MODELS < LIST
//
// Where a coordinate lies between two pixels, the last bit of dlib's singular values, which LAPACK computes and this program does not,
// decides which is read, and the points may differ by half a pixel: one face in 500 is allowed to.
#include <sstream>
// dlib rounds its points to whole pixels at the end; the comparison needs them before.
#define private public
#include <dlib/image_processing/shape_predictor.h>
#undef private
#include <dlib/image_io.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>

#include "../../Shared/C/CFaceNet/include/CFaceNet.h"

struct rgb_picture {
    int width, height;
    std::vector<unsigned char> pixels;
};

static rgb_picture read_ppm(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::string magic;
    int depth;
    rgb_picture made;
    in >> magic >> made.width >> made.height >> depth;
    in.get();
    made.pixels.resize(static_cast<size_t>(made.width) * made.height * 3);
    in.read(reinterpret_cast<char *>(made.pixels.data()), static_cast<std::streamsize>(made.pixels.size()));
    if (!in || magic != "P6") throw std::runtime_error("cannot read " + path);
    return made;
}

static std::vector<dlib::vector<double, 2>> find(const dlib::shape_predictor &model, const dlib::array2d<dlib::rgb_pixel> &image,
                                                const dlib::rectangle &box) {
    dlib::matrix<float, 0, 1> shape = model.initial_shape;
    std::vector<float> values;
    unsigned long leaf;
    for (unsigned long i = 0; i < model.forests.size(); ++i) {
        dlib::impl::extract_feature_pixel_values(image, box, shape, model.initial_shape, model.anchor_idx[i], model.deltas[i], values);
        for (const auto &tree : model.forests[i]) shape += tree(values, leaf);
    }
    const auto to_image = dlib::impl::unnormalizing_tform(box);
    std::vector<dlib::vector<double, 2>> points;
    for (unsigned long i = 0; i < model.num_parts(); ++i) points.push_back(to_image(dlib::impl::location(shape, i)));
    return points;
}

int main(int, char **arguments) {
    const std::string models = arguments[1];
    dlib::shape_predictor theirs;
    dlib::deserialize(models + "/shape_predictor_5_face_landmarks.dat") >> theirs;
    std::ifstream in(models + "/face-landmarks.hgm", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    hg_model_fault fault;
    hg_landmark_model *ours = hg_landmarks_load(bytes.data(), bytes.size(), &fault);
    if (ours == nullptr) return 2;

    std::string path;
    int left, top, right, bottom, faces = 0, different = 0;
    double worst = 0, worst_of_same = 0;
    std::map<std::string, rgb_picture> pictures;
    while (std::cin >> path >> left >> top >> right >> bottom) {
        if (pictures.count(path) == 0) pictures[path] = read_ppm(path);
        const rgb_picture &picture = pictures[path];
        dlib::array2d<dlib::rgb_pixel> image(picture.height, picture.width);
        std::memcpy(&image[0][0], picture.pixels.data(), picture.pixels.size());
        const auto expected = find(theirs, image, dlib::rectangle(left, top, right, bottom));
        hg_point points[5];
        hg_landmarks_find(ours, {picture.pixels.data(), picture.width, picture.height}, left, top, right, bottom, points);
        double deviation = 0;
        for (int i = 0; i < 5; ++i)
            deviation = std::max({deviation, std::abs(points[i].x - expected[i].x()), std::abs(points[i].y - expected[i].y())});
        worst = std::max(worst, deviation);
        different += deviation > 1e-4;
        if (deviation <= 1e-4) worst_of_same = std::max(worst_of_same, deviation);
        ++faces;
    }
    std::printf("%d faces: %d within %.2g px, %d differ by up to %.2g px\n", faces, faces - different, worst_of_same, different, worst);
    hg_landmarks_destroy(ours);
    return faces < 100 || different * 500 > faces;
}
