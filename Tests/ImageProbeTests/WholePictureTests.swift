import ImageProbe
import Testing

@Suite struct WholePictureTests {
    private static let pixels = 640 * 480

    private static func header(depth: UInt8, kind: UInt8, interlaced: Bool, extra: [UInt8] = []) -> [UInt8] {
        var file = TestImages.png(width: 640, height: 480, extra: extra)
        // Behind the signature and the chunk's name are width, height, depth and colour type; the last byte is the interlacing.
        file.replaceSubrange(24...28, with: [depth, kind, 0, 0, interlaced ? 1 : 0])
        return file
    }

    /// Files, with the bytes per pixel that a decoder holds in memory.
    private static let files: [(name: String, bytes: [UInt8], perPixel: Double)] = [
        ("baseline JPEG", TestImages.jpeg(width: 640, height: 480), 0),
        ("progressive JPEG, 4:2:0", TestImages.jpeg(width: 640, height: 480, frame: 0xC2), 3),
        ("PNG", header(depth: 8, kind: 2, interlaced: false), 0),
        ("interlaced PNG", header(depth: 8, kind: 2, interlaced: true), 3),
        ("interlaced PNG of 16 bits with transparency", header(depth: 16, kind: 6, interlaced: true), 8),
        (
            "interlaced PNG with a transparent colour",
            header(depth: 8, kind: 2, interlaced: true, extra: TestImages.pngChunk("tRNS", [0, 0, 0, 0, 0, 0])), 4
        ),
        ("lossy WebP", TestImages.webp([("VP8 ", TestImages.lossy(width: 640, height: 480))]), 0),
        ("lossless WebP", TestImages.webp([("VP8L", TestImages.lossless(width: 640, height: 480))]), 4),
        ("HEIC", TestImages.heic(width: 640, height: 480), 6),
    ]

    @Test(arguments: files.indices)
    func `the memory of a decoder is derived from the structure`(index: Int) throws {
        let (name, bytes, perPixel) = Self.files[index]
        #expect(try probe([bytes[...]]).wholeBytes == Int(Double(Self.pixels) * perPixel), "\(name)")
    }

    @Test func `a baseline JPEG in several scans is kept whole`() throws {
        var file = TestImages.jpeg(width: 640, height: 480)
        let scan = try #require(file.firstRange(of: [0xFF, 0xDA, 0, 12, 3]))
        file[scan.upperBound - 1] = 1
        #expect(try probe([file[...]]).wholeBytes == 3 * Self.pixels)
    }

    @Test func `a picture that takes too much memory is refused, however few its bytes are`() {
        let limits = ImageLimits(wholeBytes: 3 * Self.pixels - 1)
        #expect(refusal(TestImages.jpeg(width: 640, height: 480, frame: 0xC2), limits: limits) == .tooMuchMemory)
        #expect(refusal(TestImages.jpeg(width: 640, height: 480), limits: limits) == nil)
    }
}
