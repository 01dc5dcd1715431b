// Measures Shared/C/CFaceNet against OpenCV's dnn module on one thread, in one run: contenders take turns, and each has the time of
// its thread measured, so that other load of the machine falls on all alike.
//
//     bench MODELS REFERENCE [ROUNDS]        (REFERENCE is the folder that reference.py has filled; run.sh builds and runs this)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

extern "C" {
#include "../../../Shared/C/CFaceNet/kernels.h"
}
#include "peak.h"

static double milliseconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

struct contender {
    std::string name;
    /// Multiply-adds in millions, or 0.
    double work;
    std::function<void()> run;
    std::vector<double> times;
};

static std::string read(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

static cv::Mat noise(int width, int height) {
    cv::Mat made({1, 3, height, width}, CV_32F);
    cv::randu(made, 0, 255);
    return made;
}

/// The pointwise layers of the recogniser: pixels, channels in, channels out, times.
static const int layers[][4] = {{112 * 112, 32, 64, 1}, {56 * 56, 64, 128, 1}, {56 * 56, 128, 128, 1}, {28 * 28, 128, 256, 1},
                                {28 * 28, 256, 256, 1}, {14 * 14, 256, 512, 1}, {14 * 14, 512, 512, 5}, {7 * 7, 512, 1024, 1},
                                {7 * 7, 1024, 1024, 1}};

static float *aligned(size_t count) {
    auto *made = static_cast<float *>(aligned_alloc(64, count * 4 + 64));
    for (size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i % 17) / 17 - 0.5f;
    return made;
}

int main(int count, char **arguments) {
    const std::string models = arguments[1], reference = arguments[2];
    const int rounds = count > 3 ? std::atoi(arguments[3]) : 60;
    cv::setNumThreads(1);
    std::vector<contender> contenders;

    auto sface = cv::dnn::readNetFromONNX(reference + "/sface.onnx"), yunet = cv::dnn::readNetFromONNX(reference + "/yunet.onnx");
    const cv::Mat face = noise(112, 112), vga = noise(640, 480), small = noise(320, 256);
    std::vector<cv::String> names;
    for (const char *part : {"cls_", "obj_", "bbox_", "kps_"})
        for (const char *stride : {"8", "16", "32"}) names.push_back(std::string(part) + stride);
    const std::string recogniser_file = read(models + "/face-recogniser.hgm"), detector_file = read(models + "/face-detector.hgm");
    std::vector<uint8_t> pixels(640 * 480 * 3);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
    auto *scratch = hg_scratch_create();
    float descriptor[HG_FACE_DESCRIPTOR_LENGTH];
    static const char *const path_names[] = {"", "portable", "AVX2", "AVX-512", "AVX-512 VNNI"};
    std::vector<hg_path> paths;
    for (hg_path path : {HG_PATH_AVX512, HG_PATH_AVX2, HG_PATH_PORTABLE})
        if (hg_path_available(path)) paths.push_back(path);

    auto search = [&](const hg_detector *detector, int width, int height) {
        hg_candidate found[16];
        int found_count;
        hg_detector_find(detector, scratch, {pixels.data(), width, height}, 0.7f, 0.3f, found, 16, &found_count);
    };
    auto infer = [&](const cv::Mat &picture) {
        std::vector<cv::Mat> results;
        yunet.setInput(picture);
        yunet.forward(results, names);
    };
    contenders.push_back({"SFace, OpenCV " CV_VERSION, 574, [&] { sface.setInput(face); sface.forward(); }, {}});
    // The 8-bit products are the recogniser's alone.
    std::vector<hg_path> of_recogniser = paths;
    if (hg_path_available(HG_PATH_VNNI)) of_recogniser.insert(of_recogniser.begin(), HG_PATH_VNNI);
    for (hg_path path : of_recogniser) {
        hg_model_fault fault;
        auto *recogniser = hg_recogniser_load(recogniser_file.data(), recogniser_file.size(), path, &fault);
        contenders.push_back({std::string("SFace, CFaceNet ") + path_names[path], 574,
                              [&, recogniser] { hg_recogniser_describe(recogniser, scratch, pixels.data(), descriptor); }, {}});
    }
    // OpenCV changes a network's memory with the size of its input, so each size runs once before it is measured.
    for (int size = 0; size < 2; ++size) {
        const std::string name = size == 0 ? "YuNet 640x480, " : "YuNet 320x240, ";
        const cv::Mat &picture = size == 0 ? vga : small;
        contenders.push_back({name + "OpenCV " CV_VERSION, 0, [&] { infer(picture); }, {}});
        for (hg_path path : paths) {
            hg_model_fault fault;
            auto *detector = hg_detector_load(detector_file.data(), detector_file.size(), path, &fault);
            contenders.push_back({name + "CFaceNet " + path_names[path], 0,
                                  [&, detector, size] { search(detector, size == 0 ? 640 : 320, size == 0 ? 480 : 240); }, {}});
        }
    }
    const long peak_rounds = 200'000;
    float sink;
    contenders.push_back({"peak AVX-512", peak_rounds * 16 * 16 / 1e6, [&] { peak_avx512(peak_rounds, &sink); }, {}});
    const size_t peak_wide = contenders.size() - 1;
    contenders.push_back({"peak AVX2", peak_rounds * 12 * 8 / 1e6, [&] { peak_avx2(peak_rounds, &sink); }, {}});
    const size_t first_layer = contenders.size();
    float *in = aligned(112 * 112 * 64), *out = aligned(112 * 112 * 64), *weights = aligned(1024 * 1024), *bias = aligned(1024);
    for (hg_path path : paths) {
        if (path == HG_PATH_PORTABLE) continue;
        const hg_kernels *kernels = hg_kernels_of(path);
        for (const auto &layer : layers) {
            const hg_dense dense = {1, layer[1], layer[2], weights, bias, bias};
            char name[80];
            std::snprintf(name, sizeof name, "%d pixels, %d to %d, %s", layer[0], layer[1], layer[2], path_names[path]);
            contenders.push_back({name, layer[0] / 1e6 * layer[1] * layer[2],
                                  [=] {
                                      // Bands of pixels like those of the recogniser.
                                      const int band = std::min<int>(layer[0], 128 * 1024 / static_cast<int>(hg_stride(layer[1])));
                                      for (int at = 0; at < layer[0]; at += band)
                                          kernels->dense(&dense, in, hg_stride(layer[1]), 0, std::min(band, layer[0] - at), out,
                                                         hg_stride(layer[2]));
                                  },
                                  {}});
        }
    }

    for (int round = -2; round < rounds; ++round) {
        for (auto &one : contenders) {
            if (one.name.compare(0, 5, "YuNet") == 0 && one.name.find("OpenCV") != std::string::npos) one.run();
            const double start = milliseconds();
            one.run();
            if (round >= 0) one.times.push_back(milliseconds() - start);
        }
    }
    std::printf("medians of %d rounds\n", rounds);
    for (const auto &one : contenders) {
        const double time = median(one.times);
        std::printf("%-44s %8.3f ms", one.name.c_str(), time);
        if (one.work > 0) std::printf(" %7.1f GMAC/s", one.work / time);
        std::printf("\n");
    }
    for (size_t p = 0, at = first_layer; at < contenders.size(); ++p) {
        double work = 0, time = 0;
        for (const auto &layer : layers) {
            work += layer[3] * contenders[at].work;
            time += layer[3] * median(contenders[at++].times);
        }
        const auto &peak = contenders[peak_wide + p];
        std::printf("pointwise layers together, %s: %.1f GMAC/s, %.0f %% of the peak\n", path_names[paths[p]], work / time,
                    100 * work / time / (peak.work / median(peak.times)));
    }
}
