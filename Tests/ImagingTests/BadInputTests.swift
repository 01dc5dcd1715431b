import ImageProbe
import Imaging
import TestSupport
import Testing

/// Tests that invalid files are refused by every function with the exact error, and never crash.
@Suite struct BadInputTests {
    private func codes(_ bytes: [UInt8]) -> Set<ImagingError.Code?> {
        [
            code { _ = try Samples.pipeline.normalise(bytes, maxSide: 1_000) },
            code { _ = try Samples.pipeline.thumbnail(of: bytes) },
            code { _ = try Samples.pipeline.finish(bytes) },
            code { _ = try Samples.pipeline.stylise(bytes, style: .vintage) },
            code { _ = try Samples.decoder.decodeUpright(bytes) },
        ]
    }

    @Test(arguments: [
        "", "GIF89a\u{1}\0\u{1}\0", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        "<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><svg>&x;</svg>",
        "%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj", "%!PS-Adobe-3.0\nshowpage",
        "BM\u{46}\0\0\0\0\0\0\0\u{36}\0\0\0", "II*\0\u{8}\0\0\0\0\0",
        "P6\n1 1\n255\nabc", "#?RADIANCE\n", "SIMPLE  =                    T", "push graphic-context\nimage over 0,0 0,0 'https://x/'\n",
        "\0\0\0\u{20}ftypavif\0\0\0\0avifmif1miafMA1B", "\0\0\0\u{0C}JXL \r\n", "\0\0\0\u{0C}jP  \r\n", "MZ\0\0", "not a picture",
    ])
    func `only four formats are accepted`(text: String) {
        #expect(codes(Array(text.utf8) + [UInt8](repeating: 0, count: 64)) == [.unsupported])
        #expect(codes(Array(text.utf8)) == [.unsupported])
    }

    @Test(arguments: [(8_000, 6_250), (12_001, 10), (10, 12_001), (20_000, 20_000), (8_000, 5_001)])
    func `a picture with too many pixels is refused on its header`(width: Int, height: Int) throws {
        #expect(codes(JPEGFile(try Samples.quarters()).claiming(width: width, height: height).bytes) == [.tooLarge])
        #expect(codes(PNGFile.header(width: width, height: height)) == [.tooLarge])
    }

    @Test func `a file of too many bytes is refused`() throws {
        let file = try Samples.portrait()
        let limits = ImageLimits(bytes: file.count - 1)
        #expect(code { _ = try Samples.pipeline.thumbnail(of: file, limits: limits) } == .tooLarge)
        #expect(code { _ = try Samples.pipeline.thumbnail(of: file, limits: ImageLimits(bytes: file.count)) } == nil)
    }

    @Test func `an animation is refused in every format`() {
        let frames = PNGFile.chunk("acTL", PNGFile.bigEndian(2) + PNGFile.bigEndian(0))
        #expect(codes(PNGFile.encode(width: 8, height: 8, bands: 3, extra: frames) { _, _, _ in 1 }) == [.tooLarge])
        let canvas: [UInt8] = [2, 0, 0, 0, 63, 0, 0, 63, 0, 0]
        let chunks = Array("VP8X".utf8) + [10, 0, 0, 0] + canvas + Array("ANIM".utf8) + [6, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(codes(Array("RIFF".utf8) + [UInt8(chunks.count + 4), 0, 0, 0] + Array("WEBP".utf8) + chunks) == [.tooLarge])
        var sequence = SmallFiles.heic
        sequence.replaceSubrange(8..<12, with: Array("hevc".utf8))
        #expect(codes(sequence) == [.tooLarge])
    }

    @Test func `a JPEG of very many scans is refused before one is decoded`() throws {
        var file = try Samples.quarters()
        // Progressive by its header: a decoder of a sequential picture reads one scan.
        let frame = try #require(file.indices.dropLast().first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
        file[frame + 1] = 0xC2
        let start = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        let scan = Array(file[start..<(file.count - 2)])
        let bomb = file[..<start] + Array(repeatElement(scan, count: 200).joined()) + [0xFF, 0xD9]
        #expect(codes(Array(bomb)) == [.tooLarge])
    }

    @Test(arguments: ["jpeg", "progressive", "png", "webp", "heic"], [0.02, 0.2, 0.5, 0.8, 0.97])
    func `a truncated file is corrupt`(kind: String, share: Double) throws {
        let files = [
            "jpeg": try Samples.portrait(), "progressive": try Photos.load("original/biden"), "png": Samples.noise(side: 64),
            "webp": SmallFiles.webP, "heic": SmallFiles.heic,
        ]
        let file = try #require(files[kind])
        #expect(codes(Array(file.prefix(max(16, Int(Double(file.count) * share))))) == [.corrupt])
    }

    @Test func `magic bytes alone are corrupt`() {
        #expect(codes([0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 12)) == [.corrupt])
        #expect(codes(Array("RIFF".utf8) + [4, 0, 0, 0] + Array("WEBPVP8 ".utf8)) == [.corrupt])
        #expect(codes([0, 0, 0, 24] + Array("ftypheic".utf8) + [UInt8](repeating: 0, count: 64)) == [.corrupt])
    }

    @Test func `a wrong checksum is corrupt`() {
        var file = Samples.noise(side: 64)
        file[file.count / 2] ^= 0xFF
        #expect(codes(file) == [.corrupt])
    }

    @Test func `errors name structure and never content`() throws {
        let secret = "CANARY-SECRET"
        let file = JPEGFile(try Samples.quarters()).withMetadata(saying: secret).bytes
        do {
            _ = try Samples.pipeline.normalise(Array(file.dropLast(40)), maxSide: 100)
            Issue.record("a truncated file was accepted")
        } catch {
            #expect(!error.description.contains(secret) && !error.description.isEmpty && error.description.count < 300)
        }
    }
}
