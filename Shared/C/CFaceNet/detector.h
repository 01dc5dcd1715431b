// What the detector's network gives to its decoding.
#pragma once

#include "model_file.h"

enum {
    /// Maps of results: one cell for 8, 16 and 32 pixels.
    HG_LEVELS = 3,
    /// Values of a cell: class, objectness, four of the box and ten of the points stand in the order below.
    HG_CELL_VALUES = 16,
    HG_CELL_CLASS = 0,
    HG_CELL_BOX = 1,
    HG_CELL_OBJECT = 5,
    HG_CELL_POINTS = 6,
    /// Maximum number of candidates, the most certain, of which overlapping ones are removed.
    HG_MAX_CANDIDATES = 4096,
};

/// Runs the network. The results, and the space for the candidates that are decoded of them, are in the scratch. Returns 0 like
/// hg_detector_find.
int hg_detector_run(const hg_detector *detector, hg_scratch *scratch, hg_rgb picture, hg_map results[HG_LEVELS],
                    hg_candidate **candidates);

/// Turns the results into candidates in pixels of the network's input, sorts them and removes overlapping ones. `candidates` has
/// space for one of each cell. Returns their number.
int hg_decode_candidates(const hg_map levels[HG_LEVELS], float min_score, float max_overlap, hg_candidate *candidates);
