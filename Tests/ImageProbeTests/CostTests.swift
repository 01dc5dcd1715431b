import ImageProbe
import Testing

@Suite struct CostTests {
    /// Files of 640 by 480 pixels, with the nanoseconds that a pixel takes.
    private static let files: [(name: String, bytes: [UInt8], nanoseconds: Int)] = [
        ("baseline JPEG", TestImages.jpeg(width: 640, height: 480), 5),
        ("progressive JPEG of two scans", TestImages.jpeg(width: 640, height: 480, frame: 0xC2), 7),
        ("progressive JPEG of eleven scans", TestImages.jpeg(width: 640, height: 480, frame: 0xC2, refinements: 10), 16),
        ("PNG", TestImages.png(width: 640, height: 480), 6),
        ("lossless WebP", TestImages.webp([("VP8L", TestImages.lossless(width: 640, height: 480))]), 10),
        ("HEIC", TestImages.heic(width: 640, height: 480), 22),
    ]

    @Test(arguments: files.indices) func `the cost of decoding is estimated by pixels and encoding`(index: Int) throws {
        let (name, bytes, nanoseconds) = Self.files[index]
        #expect(try probe([bytes[...]]).cost == .nanoseconds(640 * 480 * nanoseconds), "\(name)")
    }

    /// The file of finding N1: 4 KB with 64 scans. Each scan makes a decoder walk through 40 megapixels.
    private static let walk = TestImages.jpeg(width: 11_000, height: 3_600, frame: 0xC2, refinements: 63)

    @Test func `a picture that takes too long to decode is refused, however few its bytes are`() {
        #expect(Self.walk.count < 8_192)
        #expect(refusal(Self.walk) == .tooCostly)
        #expect(refusal(TestImages.jpeg(width: 640, height: 480, frame: 0xC2, refinements: 64)) == .tooCostly, "65 scans")
        #expect(refusal(TestImages.jpeg(width: 8_000, height: 5_000, frame: 0xC2, refinements: 10)) == nil)
    }

    @Test func `as a face only what phones write is taken`() {
        #expect(refusal(TestImages.jpeg(width: 4_000, height: 4_000), limits: .face) == nil)
        #expect(refusal(TestImages.heic(width: 4_032, height: 3_024), limits: .face) == nil)
        #expect(refusal(TestImages.jpeg(width: 4_032, height: 3_024, frame: 0xC2, refinements: 11), limits: .face) == nil)
        #expect(refusal(TestImages.jpeg(width: 640, height: 480, frame: 0xC2, refinements: 12), limits: .face) == .tooCostly)
        #expect(refusal(TestImages.jpeg(width: 4_001, height: 4_000), limits: .face) == .tooManyPixels)
    }
}
