import Foundation
import ImageProbe
import Imaging
import TestSupport
import Testing

/// Tests real files with random damage, which is the same in every run.
@Suite struct FuzzTests {
    /// The number of rounds of each seed, of some 5 ms each: 300, or a quarter of the files that `FUZZ_PICTURES` asks for.
    private static let rounds = ProcessInfo.processInfo.environment["FUZZ_PICTURES"].flatMap { Int($0) }.map { $0 / 4 } ?? 300

    private static func files() throws -> [[UInt8]] {
        let portrait = try Samples.pipeline.normalise(try Samples.portrait(), maxSide: 160).picture.bytes
        let profile = PNGFile.profile(ColourProfile.swappedRedAndGreen)
        return [
            portrait, JPEGFile(portrait).with(orientation: 6).withMetadata(saying: "text").with(profile: ColourProfile.greenInks).bytes,
            JPEGFile(SmallFiles.cmyk).with(profile: ColourProfile.greenInks).bytes, SmallFiles.webP, SmallFiles.heic,
            PNGFile.encode(width: 40, height: 30, bands: 4, extra: profile) { x, y, band in UInt8(x * 3 + y + band * 9) },
            PNGFile.encode16(width: 40, height: 30) { x, y, band in UInt16(x * 900 + y * 300 + band * 5_000) },
            try Samples.pipeline.finish(portrait, format: .webp).bytes, try Samples.pipeline.finish(portrait, format: .png).bytes,
        ]
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a damaged file gives a picture or an error, and nothing else`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let files = try Self.files()
        for round in 0..<Self.rounds {
            let file = Self.damaged(files[round % files.count], files, using: &random)
            do throws(ImagingError) {
                let result = try Samples.pipeline.thumbnail(of: file)
                #expect((result.width, result.height) == (300, 200))
                _ = try Samples.decoder.decodeUpright(file)
            } catch {
                #expect([.unsupported, .tooLarge, .corrupt].contains(error.code), "\(error)")
            }
        }
        // A damaged file may be refused, but it must not crash its decoder.
        #expect(Samples.decoder.failures == [])
        ImagePipeline.leaveThread()
    }

    private static func damaged(_ file: [UInt8], _ files: [[UInt8]], using random: inout SeededGenerator) -> [UInt8] {
        var file = file
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            // Half of the damage is to the first 200 bytes: headers are short, and damage to them has the largest effect.
            let place = Int.random(in: 0..<(Bool.random(using: &random) ? min(file.count, 200) : file.count), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: file[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            case 1: file[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: file.removeSubrange(place..<min(file.count, place + Int.random(in: 1...16, using: &random)))
            case 3: file.insert(contentsOf: [UInt8](repeating: file[place], count: Int.random(in: 1...16, using: &random)), at: place)
            default:
                let other = files.randomElement(using: &random) ?? file
                let start = Int.random(in: 0..<other.count, using: &random)
                let piece = other[start..<min(other.count, start + Int.random(in: 1...64, using: &random))]
                file.replaceSubrange(place..<min(file.count, place + piece.count), with: piece)
            }
            if file.count < 16 { return file }
        }
        return file
    }
}
