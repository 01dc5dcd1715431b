import ImageProbe
import TestSupport
import Testing

func probe(_ chunks: [ArraySlice<UInt8>], limits: ImageLimits = ImageLimits()) throws(ImageProbeError) -> ImageInfo {
    var probe = ImageProbe(limits: limits)
    for chunk in chunks { try probe.feed(chunk.span.bytes) }
    return try probe.finish()
}

/// Returns the code with which a file is refused; nil when it is accepted.
func refusal(_ bytes: [UInt8], limits: ImageLimits = ImageLimits()) -> ImageProbeError.Code? {
    do throws(ImageProbeError) {
        _ = try probe([bytes[...]], limits: limits)
        return nil
    } catch {
        return error.code
    }
}

@Suite struct ImageProbeTests {
    @Test(arguments: TestImages.samples.indices)
    func `Format and size are derived from the structure, independent of the chunks`(index: Int) throws {
        let (name, format, bytes) = TestImages.samples[index]
        let whole = try probe([bytes[...]])
        #expect(whole.format.rawValue == format, "\(name)")
        #expect((whole.width, whole.height, whole.byteCount) == (640, 480, bytes.count), "\(name)")
        for cut in 0...bytes.count { #expect(try probe([bytes[..<cut], bytes[cut...]]) == whole, "\(name) cut at \(cut)") }
        #expect(try probe(bytes.indices.map { bytes[$0...$0] }) == whole, "\(name) byte by byte")
    }

    @Test(arguments: TestImages.samples.indices)
    func `A picture truncated at any byte is refused, except within the scan of a JPEG and behind a chunk of data of a PNG`(index: Int) {
        let (name, format, bytes) = TestImages.samples[index]
        var ends: Set<Int> = []
        for length in 0..<bytes.count {
            guard let cut = try? probe([bytes[..<length]]) else { continue }
            #expect(cut.isOpenEnded && ["jpeg", "png"].contains(format), "\(name) after \(length) of \(bytes.count) bytes")
            #expect(format == "png" || cut.end == length)
            ends.insert(cut.end)
        }
        // Behind each of its two chunks of data; the one of 3 bytes has 15.
        if format == "png" { #expect(ends == [bytes.count - 12, bytes.count - 12 - 15]) }
    }

    @Test(arguments: [[], [0], [0, 0, 0, 0, 0x49, 0x45], [1, 2, 3, 4, 5, 6, 7, 8, 9], Array("\0\0\u{1}\0tEXt".utf8)])
    func `A PNG without its end ends with its data`(appended: [UInt8]) throws {
        let file = Array(TestImages.png(width: 640, height: 480).dropLast(12))
        let info = try probe([(file + appended)[...]])
        #expect(info.isOpenEnded && info.end == file.count)
    }

    @Test(arguments: [[], [0, 1, 2], [0xFF, 0x53, 1, 2], [0xFF, 0xD8, 0xFF, 0xE0, 0xFF]])
    func `A JPEG without its end marker ends before the data behind it`(appended: [UInt8]) throws {
        let file = Array(TestImages.jpeg(width: 640, height: 480).dropLast(2))
        let info = try probe([(file + appended)[...]])
        let isMarker = appended.first == 0xFF
        #expect(info.isOpenEnded && info.end == file.count + (isMarker ? 0 : appended.count))
    }

    @Test func `A progressive JPEG is refused with an unknown marker between its scans`() {
        let file = TestImages.jpeg(width: 640, height: 480, frame: 0xC2).dropLast(2)
        #expect(refusal(file + [0xFF, 0x53, 0xFF, 0xD9]) == .malformed)
    }

    @Test(arguments: TestImages.samples.indices)
    func `Data that phones append to a picture is ignored`(index: Int) throws {
        let (name, _, bytes) = TestImages.samples[index]
        for appended in [[1, 2, 3] + bytes, [0, 0, 0, 3], [UInt8](repeating: 0xFF, count: 40), Array("SEFH and text behind it".utf8)] {
            let info = try probe([(bytes + appended)[...]])
            #expect((info.width, info.end, info.isOpenEnded) == (640, bytes.count, false), "\(name)")
        }
    }

    @Test(arguments: [
        Array("not a picture at all, whatever its name says".utf8), [], [0xFF, 0xD8],
        Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 40),
        Array("RIFF\u{10}\0\0\0WAVEfmt ".utf8), Array("BM".utf8) + [UInt8](repeating: 0, count: 60),
        Array("<svg xmlns=\"x\"/>          ".utf8),
        TestImages.heic(width: 10, height: 10, brands: ["avif", "mif1"]), TestImages.heic(width: 10, height: 10, brands: ["isom"]),
    ])
    func `Other formats are refused`(bytes: [UInt8]) {
        #expect(refusal(bytes) == .unsupportedFormat)
    }

    @Test(arguments: [
        TestImages.png(width: 10, height: 10, extra: TestImages.pngChunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0])),
        TestImages.webp([("VP8X", TestImages.canvas(width: 10, height: 10, flags: 2)), ("ANIM", [0, 0, 0, 0, 0, 0])]),
        TestImages.webp([("VP8X", TestImages.canvas(width: 10, height: 10)), ("ANMF", [0, 0])]),
        TestImages.heic(width: 10, height: 10, brands: ["hevc", "heic"]),
        TestImages.heic(width: 10, height: 10, extra: TestImages.box("moov", [])),
    ])
    func `More than one frame is refused`(bytes: [UInt8]) {
        #expect(refusal(bytes) == .animated)
    }

    @Test(arguments: [(12_001, 10), (10, 12_001), (8_000, 5_001), (20_000, 20_000)])
    func `A picture beyond a limit of pixels is refused before its data arrives`(width: Int, height: Int) {
        let files = [
            TestImages.jpeg(width: width, height: height), TestImages.png(width: width, height: height),
            TestImages.webp([("VP8 ", TestImages.lossy(width: min(width, 16_383), height: min(height, 16_383)))]),
            TestImages.webp([("VP8X", TestImages.canvas(width: width, height: height))]),
            TestImages.heic(width: width, height: height),
        ]
        for file in files { #expect(refusal(file) == .tooManyPixels) }
        #expect(refusal(Array(TestImages.png(width: width, height: height).prefix(40))) == .tooManyPixels)
    }

    @Test func `The limits themselves are within the limits`() throws {
        #expect(try probe([TestImages.png(width: 12_000, height: 3_333)[...]]).width == 12_000)
        #expect(try probe([TestImages.jpeg(width: 8_000, height: 5_000)[...]]).height == 5_000)
        let bytes = TestImages.jpeg(width: 8, height: 8)
        #expect(refusal(bytes, limits: ImageLimits(bytes: bytes.count)) == nil)
        #expect(refusal(bytes, limits: ImageLimits(bytes: bytes.count - 1)) == .tooManyBytes)
    }

    @Test(
        arguments: [
            [0xFF, 0xD8] + TestImages.segment(0xFE, [1, 2, 3, 4, 5, 6, 7, 8]) + [0xFF, 0xD9],  // nothing shown
            [0xFF, 0xD8] + TestImages.segment(0xDA, [1, 1, 0, 1, 5, 0, 0, 0]),  // a scan before its frame
            [0xFF, 0xD8] + TestImages.segment(0xFE, [1, 2, 3, 4, 5, 6, 7, 8]) + [0x00],  // no marker
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 0, 0, 0, 0, 0, 0],  // a length shorter than itself
            TestImages.jpeg(width: 8, height: 8, frame: 0xC3), TestImages.jpeg(width: 8, height: 0), TestImages.png(width: 0, height: 8),
            TestImages.png(width: 8, height: 8, extra: TestImages.pngChunk("IHDR", [UInt8](repeating: 1, count: 13))),
            Array(TestImages.png(width: 8, height: 8).prefix(8)) + TestImages.pngChunk("IDAT", []),
            TestImages.webp([("VP8 ", [1, 2])]), TestImages.webp([("VP8L", TestImages.lossless(width: 8, height: 8)), ("VP8L", [])]),
            TestImages.webp([("VP8X", TestImages.canvas(width: 9, height: 8)), ("VP8 ", TestImages.lossy(width: 8, height: 8))]),
        ] as [[UInt8]])
    func `A broken structure is refused`(bytes: [UInt8]) {
        #expect(refusal(bytes) == .malformed)
    }

    @Test(arguments: 0..<4)
    func `Damaged files never trap and give the same result in all chunk sizes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_500 {
            var bytes = TestImages.samples.randomElement(using: &random)!.bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let range = Bool.random(using: &random) ? bytes.indices : 0..<min(64, bytes.count)
                let values = [0, 1, 255, UInt8.random(in: 0...255, using: &random)]
                bytes[Int.random(in: range, using: &random)] = values.randomElement(using: &random)!
            }
            if Int.random(in: 0..<4, using: &random) == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            let cut = Int.random(in: 0...bytes.count, using: &random)
            #expect(outcome([bytes[...]]) == outcome([bytes[..<cut], bytes[cut...]]))
        }
    }

    private func outcome(_ chunks: [ArraySlice<UInt8>]) -> Result<ImageInfo, ImageProbeError> {
        Result { () throws(ImageProbeError) -> ImageInfo in try probe(chunks) }
    }
}
