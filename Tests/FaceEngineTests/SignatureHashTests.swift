import HeliographCrypto
import Imaging
import Testing

@testable import FaceEngine

/// A copy of a photo is recognised, and another photo of the same person is not taken for one.
@Suite struct SignatureHashTests {
    private static let names =
        ["left", "right", "front", "sign-in"].flatMap { pose in (1...3).map { "person-a/\(pose)-\($0)" } }
        // The others of this person are views of the same portrait, eight degrees apart, and count as copies of it.
        + ["person-b/sign-in-1"]

    private static let hasher = FaceSignatureHasher(key: Array("a secret".utf8))

    private static func hash(_ analysis: PhotoAnalysis) throws -> [UInt8] {
        hasher.hash(try #require(analysis.face).signature, account: "ada")
    }

    /// Returns the picture without its outermost pixels.
    private static func cropped(_ image: RGBImage) -> RGBImage {
        var pixels: [UInt8] = []
        for row in 1..<(image.height - 1) {
            let start = (row * image.width + 1) * 3
            pixels += image.pixels[start..<(start + (image.width - 2) * 3)]
        }
        return RGBImage(width: image.width - 2, height: image.height - 2, pixels: pixels)
    }

    @Test func `hashes of copies differ in few bits, and those of different photos of one person in many`() async throws {
        let pool = try await Engines.pool()
        var hashes: [(name: String, hash: [UInt8])] = []
        for name in Self.names {
            let file = try Photos.read(name)
            let original = try Self.hash(try await pool.analyse(file, for: .signIn))
            let compressed = try ImagePipeline(decoder: Engines.decoder).normalise(file, maxSide: 12_000, quality: 85).picture.bytes
            let image = Self.cropped(try Engines.decoder.decodeUpright(file).image)
            let copies = [
                ("quality 85", try await pool.analyse(compressed, for: .signIn)),
                (
                    "a pixel less",
                    try await pool.run { engine throws(FaceEngineError) in
                        try engine.analyse(image, originalScale: 1, for: .signIn)
                    }
                ),
            ]
            for (change, copy) in copies {
                let distance = FaceSignatureHasher.distance(original, try Self.hash(copy))
                #expect(distance <= FaceSignatureHasher.maxDistance, "\(name), \(change)")
            }
            hashes.append((name, original))
        }
        for (index, photo) in hashes.enumerated() {
            for other in hashes[(index + 1)...] {
                let distance = FaceSignatureHasher.distance(photo.hash, other.hash)
                #expect(distance > FaceSignatureHasher.maxDistance, "\(photo.name) and \(other.name)")
            }
        }
    }

    @Test func `a mirrored copy is recognised by the signature of its mirror image, on every photo`() async throws {
        let pool = try await Engines.pool()
        for name in Self.names {
            let file = try Photos.read(name)
            // Not the exact mirror image: its mirror image would be the photo itself.
            let image = Self.cropped(try Engines.decoder.decodeUpright(file).image.mirrored)
            let stored = try Self.hash(try await pool.analyse(file, for: .signIn))
            let copy = try #require(
                try await pool.run { engine throws(FaceEngineError) in
                    try engine.analyse(image, originalScale: 1, for: .signIn)
                }.face)
            let signature = try #require(copy.mirrorSignature)
            let hash = Self.hasher.hash(signature, account: "ada")
            #expect(FaceSignatureHasher.distance(stored, hash) <= FaceSignatureHasher.maxDistance, "\(name)")
        }
    }

    @Test func `metadata does not change the digest of the picture, and another compression does`() async throws {
        let pool = try await Engines.pool()
        let file = try Photos.read("person-a/front-1")
        let commented = Array(file.prefix(2) + [0xFF, 0xFE, 0, 3, 7] + file.dropFirst(2))
        let compressed = try ImagePipeline(decoder: Engines.decoder).normalise(file, maxSide: 12_000, quality: 85).picture.bytes
        var digests: [[UInt8]] = []
        for file in [file, commented, compressed] {
            digests.append(try #require(try await pool.examine(file, for: .signIn).photo.pixelDigest))
        }
        #expect(digests[0] == digests[1] && digests[0] != digests[2])
        #expect(try await pool.examine([1, 2, 3], for: .signIn).photo.pixelDigest == nil)
    }

    @Test func `a turned copy is recognised by its signature, and without another compression by the digest of its picture`() async throws {
        let pool = try await Engines.pool()
        let file = try Photos.read("person-a/sign-in-1")
        let image = try Engines.decoder.decodeUpright(file).image
        let original = try await pool.examine(file, for: .signIn).photo
        for quarters in 1...3 {
            let turned = image.turned(quarters: quarters)
            let copy = try await pool.run { engine throws(FaceEngineError) in (try engine.scan(turned), try engine.scan(image)) }
            #expect(copy.0.image == copy.1.image && copy.0.reduced == copy.1.reduced, "\(quarters)")
            let compressed = try ImagePipeline(decoder: Engines.decoder).normalise(turned).picture.bytes
            let distance = FaceSignatureHasher.distance(
                try Self.hash(original.analysis), try Self.hash(try await pool.examine(compressed, for: .signIn).photo.analysis))
            #expect(distance <= FaceSignatureHasher.maxDistance, "\(quarters)")
        }
    }

    @Test func `hashes of another account or another key do not compare`() throws {
        let levels = (0..<(FaceSignature.side * FaceSignature.side)).map { Float($0 % 7 - 3) }
        let norm = levels.reduce(0) { $0 + $1 * $1 }.squareRoot()
        let signature = FaceSignature(levels: levels.map { $0 / norm })
        let hash = Self.hasher.hash(signature, account: "ada")
        #expect(hash.count == FaceSignatureHasher.bitCount / 8 && hash == Self.hasher.hash(signature, account: "ada"))
        for stranger in [
            Self.hasher.hash(signature, account: "ben"), FaceSignatureHasher(key: [1]).hash(signature, account: "ada"),
        ] {
            // Half of the bits of unrelated hashes differ: 512, with a standard deviation of 16.
            #expect(abs(FaceSignatureHasher.distance(hash, stranger) - 512) < 100)
        }
    }
}
