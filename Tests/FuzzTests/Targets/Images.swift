import ImageProbe

extension FuzzTarget {
    /// The lengths of chunks, and a file.
    static let images = FuzzTarget(name: "images") { bytes in
        var input = FuzzInput(bytes)
        let cuts = input.cuts()
        let file = input.bytes
        let whole = probe([file[...]])
        try requireEqual(probe(cuts.chunks(of: file)), whole, "the file in pieces and whole")
        guard case .success(let info) = whole else { return }
        let limits = ImageLimits()
        try requireEqual(info.byteCount, file.count, "the bytes that were counted and those of the file")
        try require((1...limits.side).contains(info.width) && (1...limits.side).contains(info.height), "the limit of a side")
        try require(info.width * info.height <= limits.pixels, "the limit of pixels")
        try require((0...limits.wholeBytes).contains(info.wholeBytes), "the limit of memory")
    }

    private static func probe(_ chunks: [ArraySlice<UInt8>]) -> Result<ImageInfo, ImageProbeError> {
        Result { () throws(ImageProbeError) -> ImageInfo in
            var probe = ImageProbe()
            for chunk in chunks { try probe.feed(Array(chunk).span.bytes) }
            return try probe.finish()
        }
    }
}
