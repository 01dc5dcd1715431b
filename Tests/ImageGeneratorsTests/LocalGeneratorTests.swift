import Foundation
import GeminiEmulator
import ImageGenerators
import ImageProbe
import Imaging
import Logging
import NIOPosix
import Testing

@Suite struct LocalGeneratorTests {
    private static let pipeline = ImagePipeline(
        decoder: ImageDecoder(sandbox: .required, logger: Logger(label: "generator-tests") { _ in SwiftLogNoOpLogHandler() }))
    private static let png = DrawnPicture.png(width: 320, height: 240, seed: [250, 200, 90, 20, 60, 140])

    private func request(
        _ style: PictureStyle = .watercolor, picture: [UInt8] = png, width: Int? = nil, within seconds: Double = 120,
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> GenerationRequest {
        GenerationRequest(
            jobID: UUID(),
            template: GenerationTemplate(id: style.rawValue, name: "A style", prompt: "", style: style),
            picture: EncodedPicture(bytes: picture, format: .png, width: 320, height: 240), width: width, quality: .medium,
            deadline: .now + .seconds(seconds), progress: progress)
    }

    private func failure(
        _ request: GenerationRequest, _ generator: LocalGenerator = LocalGenerator(pipeline: pipeline)
    ) async -> GenerationError.Code? {
        do throws(GenerationError) {
            _ = try await generator.generate(request)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a style is deterministic and differs from other styles`() async throws {
        let generator = LocalGenerator(pipeline: Self.pipeline)
        let first = try await generator.generate(request())
        let again = try await generator.generate(request())
        let other = try await generator.generate(request(.popArt))
        #expect(first.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(first.bytes == again.bytes)
        #expect(first.bytes != other.bytes)
        #expect(first.modelUsed == "local")
        #expect(first.duration > .zero)
    }

    @Test func `progress grows and ends below a hundred`() async throws {
        let seen = ProgressLog()
        _ = try await LocalGenerator(pipeline: Self.pipeline).generate(request(progress: { seen.add($0) }))
        #expect(seen.values == seen.values.sorted())
        #expect(seen.values.count >= 2)
        #expect(seen.values.allSatisfy { (1...99).contains($0) })
    }

    @Test func `a broken picture is a terminal error and a size out of range an invalid request`() async {
        #expect(await failure(request(picture: Array(Self.png.prefix(300)))) == .badPicture)
        #expect(await failure(request(width: 3)) == .invalidRequest)
    }

    @Test func `a passed deadline is a timeout and a cancelled task is cancelled`() async {
        #expect(await failure(request(within: -1)) == .timeout)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(request())
        }
        #expect(await task.value == .cancelled)
    }

    @Test func `work in progress stops early when cancelled`() async throws {
        let large = DrawnPicture.png(width: 1600, height: 1200, seed: [250, 200, 90, 20, 60, 140])
        // A thread of its own: no other test's picture stands in the way.
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        let generator = LocalGenerator(pipeline: Self.pipeline, threads: PictureThreads(pool: pool))
        let clock = ContinuousClock()
        let whole = try await clock.measure { _ = try await generator.generate(request(.oilPainting, picture: large)) }
        var cuts: [Duration] = []
        for _ in 0..<3 {
            let cut = await clock.measure {
                // Cancelled from within, as soon as the work is under way.
                let (begun, signal) = AsyncStream<Void>.makeStream()
                let request = request(.oilPainting, picture: large, progress: { if $0 >= 10 { signal.finish() } })
                let task = Task { await failure(request, generator) }
                for await _ in begun {}
                task.cancel()
                #expect(await task.value == .cancelled)
            }
            cuts.append(cut)
        }
        try await pool.shutdownGracefully()
        #expect(try #require(cuts.min()) < whole)
    }
}
