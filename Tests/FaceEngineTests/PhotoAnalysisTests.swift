import Imaging
import Testing

@testable import FaceEngine

/// Tests of the engine with real photos.
@Suite struct PhotoAnalysisTests {
    @Test func `all nine photos of a sign-up are usable, each in its pose`() async throws {
        let photos = try Photos.signUp()
        let analyses = try await Engines.analyse(photos.map(\.file), for: .signUp)
        for (photo, analysis) in zip(photos, analyses) {
            let face = try #require(analysis.face)
            switch photo.pose {
            case .left: #expect(face.yaw < -9)
            case .right: #expect(face.yaw > 9)
            case .front: #expect(abs(face.yaw) < 12)
            }
        }
    }

    @Test func `two people in a photo are detected`() async throws {
        let file = try Photos.read("cases/two-people")
        for purpose in [PhotoPurpose.signUp, .signIn] {
            #expect(try await Engines.analyse([file], for: purpose)[0].fault == .multipleFaces)
        }
    }

    @Test func `a photo without a face has no face`() async throws {
        #expect(try await Engines.analyse([Photos.read("cases/no-face")], for: .signIn)[0].fault == .noFace)
    }

    @Test func `half a face is refused`() async throws {
        #expect(try await Engines.analyse([Photos.read("cases/partial-face")], for: .signUp)[0].fault == .faceCutOff)
    }

    @Test func `a file that is no picture is refused`() async throws {
        let file = try Photos.read("person-a/front-1")
        let faults = try await Engines.analyse(
            [Array("hello".utf8), Array(file.prefix(file.count / 2)), Photos.hugeFile],
            for: .signUp
        ).map(\.fault)
        #expect(faults == [.unsupportedFormat, .corrupt, .tooLarge])
    }

    @Test func `a dark photo is refused for signing up`() async throws {
        let dark = try Photos.altered("person-a/front-1") { image, x, y, channel in image.level(x, y, channel) / 6 }
        #expect(try await analyse(dark, for: .signUp).fault == .tooDark)
    }

    @Test func `a face in near darkness is too dark, and not missing`() async throws {
        let dark = try Photos.altered("person-a/front-1") { image, x, y, channel in image.level(x, y, channel) / 24 }
        #expect(try await analyse(dark, for: .signUp).fault == .tooDark)
    }

    @Test func `a washed-out photo is refused`() async throws {
        let bright = try Photos.altered("person-a/front-1") { image, x, y, channel in
            UInt8(min(255, 160 + Int(image.level(x, y, channel)) / 2))
        }
        #expect(try await analyse(bright, for: .signIn).fault == .tooBright)
    }

    @Test func `a blurred photo is refused`() async throws {
        let blurred = try Photos.altered("person-a/front-1") { image, x, y, channel in
            var sum = 0
            for row in 0..<5 { for column in 0..<5 { sum += Int(image.level(x + 4 * column - 8, y + 4 * row - 8, channel)) } }
            return UInt8(sum / 25)
        }
        #expect(try await analyse(blurred, for: .signUp).fault == .tooBlurry)
    }

    @Test(arguments: 1...3) func `a photo that lies on a side or upside down is turned back`(quarters: Int) async throws {
        for name in ["person-a/front-1", "person-a/left-3", "person-a/right-2", "person-a/sign-in-2", "person-b/sign-in-1"] {
            let image = try Engines.decoder.decodeUpright(try Photos.read(name)).image
            let upright = try #require(try await analyse(image, for: .signIn).face)
            let face = try #require(try await analyse(image.turned(quarters: quarters), for: .signIn).face)
            #expect(face.descriptor.distance(to: upright.descriptor) < 0.1, "\(name)")
            #expect(abs(face.yaw - upright.yaw) < 1 && abs(face.roll - upright.roll) < 1, "\(name)")
        }
    }

    @Test func `turned photos of several people, of half a face and of none have the same faults`() async throws {
        let cases: [(String, PhotoFault)] = [
            ("cases/two-people", .multipleFaces), ("cases/partial-face", .faceCutOff), ("cases/no-face", .noFace),
        ]
        for (name, fault) in cases {
            let image = try Engines.decoder.decodeUpright(try Photos.read(name)).image
            for quarters in 0...3 { #expect(try await analyse(image.turned(quarters: quarters), for: .signUp).fault == fault, "\(name)") }
        }
    }

    @Test func `a mirrored photo is recognised as the same photo`() async throws {
        let image = try Engines.decoder.decodeUpright(try Photos.read("person-a/left-1")).image
        let original = try #require(try await analyse(image, for: .signUp).face)
        let mirrored = try #require(try await analyse(image.mirrored, for: .signUp).face)
        #expect(original.signature.mirrorCorrelation(with: mirrored.signature) > 0.90)
        #expect(abs(original.yaw + mirrored.yaw) < 8)
    }

    private func analyse(_ image: RGBImage, for purpose: PhotoPurpose) async throws -> PhotoAnalysis {
        let pool = try await Engines.pool()
        return try await pool.run { engine throws(FaceEngineError) in try engine.analyse(image, originalScale: 1, for: purpose) }
    }
}
