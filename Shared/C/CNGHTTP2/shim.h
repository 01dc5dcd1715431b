#pragma once
#include <nghttp2/nghttp2.h>

// A frame is a union; Swift would copy it to read a member.

static inline const nghttp2_frame_hd *hg_frame_head(const nghttp2_frame *frame) { return &frame->hd; }
