import GeminiEmulator
import HeliographCrypto
import ImageGenerators
import Synchronization
import Testing

/// Tests of the requests to the model and of the pictures in its answers.
@Suite struct GeminiAnswerTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47]

    @Test func `a picture is returned with the model's name and the duration`() async throws {
        try await GeminiFixture.with { fixture in
            let image = try await fixture.generator.generate(GeminiFixture.request())
            #expect(image.bytes.starts(with: Self.png))
            #expect(image.modelUsed == GeminiFixture.model)
            #expect(image.duration > .zero)
            #expect(fixture.generator.name == GeminiFixture.model)
        }
    }

    @Test func `the prompt and the picture itself are sent, in one call`() async throws {
        try await GeminiFixture.with { fixture in
            _ = try await fixture.generator.generate(GeminiFixture.request())
            let calls = fixture.emulator.calls
            #expect(calls.count == 1)
            #expect(calls.first?.prompt.hasPrefix("Paint this \"photo\" as a watercolor.\nKeep the faces.") == true)
            #expect(calls.first?.pictureByteCount == GeminiFixture.jpeg.count)
            let text = Array((calls.first?.prompt ?? "").utf8) + GeminiFixture.jpeg
            #expect(calls.first?.fingerprint == Hex.encode(SHA256.hash(text)))
        }
    }

    @Test(arguments: [(1000, 1000, "1:1"), (1920, 1080, "16:9"), (1000, 1490, "2:3"), (300, 200, "3:2"), (100, 4000, "9:16")])
    func `a width and a height become the nearest shape`(width: Int, height: Int, shape: String) async throws {
        try await GeminiFixture.with { fixture in
            _ = try await fixture.generator.generate(GeminiFixture.request(width: width, height: height))
            #expect(fixture.emulator.calls.map(\.aspectRatio) == [shape])
        }
    }

    @Test func `without both sides the shape is left to the model`() async throws {
        try await GeminiFixture.with { fixture in
            _ = try await fixture.generator.generate(GeminiFixture.request())
            _ = try await fixture.generator.generate(GeminiFixture.request(width: 900))
            #expect(fixture.emulator.calls.map(\.aspectRatio) == [nil, nil])
        }
    }

    @Test func `a size is requested only when configured for the model`() async throws {
        try await GeminiFixture.with { fixture in
            _ = try await fixture.generator.generate(GeminiFixture.request(width: 4000))
            #expect(fixture.emulator.calls.map(\.imageSize) == [nil])
        }
        let sizes: [(Int, GeminiConfiguration.ImageSize, String?)] = [
            (1024, .fourK, nil), (1025, .fourK, "2K"), (4000, .twoK, "2K"), (4000, .fourK, "4K"),
        ]
        for (side, maxSize, size) in sizes {
            try await GeminiFixture.with(configure: {
                $0.model = "gemini-3-pro-image-preview"
                $0.maxImageSize = maxSize
            }) { fixture in
                _ = try await fixture.generator.generate(GeminiFixture.request(height: side))
                #expect(fixture.emulator.calls.map(\.imageSize) == [size])
            }
        }
    }

    @Test func `snake case answers are read as well`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.snakeCase))
            let image = try await fixture.generator.generate(GeminiFixture.request())
            #expect(image.bytes.starts(with: Self.png))
        }
    }

    @Test func `a thought's picture is not used as the result`() async throws {
        try await GeminiFixture.with { fixture in
            let plain = try await fixture.generator.generate(GeminiFixture.request())
            fixture.emulator.add(GeminiBehaviour(.thought))
            let thoughtful = try await fixture.generator.generate(GeminiFixture.request())
            #expect(thoughtful.bytes == plain.bytes)
        }
    }

    @Test func `progress grows and ends below a hundred`() async throws {
        try await GeminiFixture.with { fixture in
            let seen = ProgressLog()
            _ = try await fixture.generator.generate(GeminiFixture.request(progress: { seen.add($0) }))
            #expect(seen.values == seen.values.sorted())
            #expect(seen.values.count >= 2)
            #expect(seen.values.allSatisfy { (1...99).contains($0) })
        }
    }

    @Test func `a picture of 20 MB is returned`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.huge(byteCount: 20_000_000)))
            let image = try await fixture.generator.generate(GeminiFixture.request())
            #expect(image.bytes.count == 20_000_000)
        }
    }
}

/// Collects the reported progress.
final class ProgressLog: Sendable {
    private let log = Mutex<[Int]>([])
    var values: [Int] { log.withLock { $0 } }
    func add(_ value: Int) { log.withLock { $0.append(value) } }
}
