import Foundation
import ImageProbe
import Imaging
import Logging
import TestSupport
import Testing

/// Tests the processes that decode pictures.
@Suite struct DecoderProcessTests {
    private static func decoder(_ sandbox: SandboxMode = .required) -> ImageDecoder {
        ImageDecoder(sandbox: sandbox, logger: Logger(label: "decoder-process-tests") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func file(_ kind: String) throws -> [UInt8] {
        switch kind {
        case "jpeg": try Samples.portrait()
        case "rotated jpeg": JPEGFile(try Samples.quarters()).with(orientation: 6).bytes
        case "profiled jpeg": JPEGFile(try Samples.quarters()).with(profile: ColourProfile.swappedRedAndGreen).bytes
        case "progressive jpeg": try Photos.load("original/biden")
        case "cmyk jpeg": SmallFiles.cmyk
        case "png": Samples.noise(side: 64)
        case "png of 16 bits": PNGFile.encode16(width: 40, height: 30) { x, y, band in UInt16(x * 900 + y * 300 + band * 5_000) }
        case "webp": SmallFiles.webP
        default: SmallFiles.heic
        }
    }

    @Test(arguments: [
        "jpeg", "rotated jpeg", "profiled jpeg", "progressive jpeg", "cmyk jpeg", "png", "png of 16 bits", "webp", "heic",
    ])
    func `each kind of picture is decoded in the sandbox, to the same pixels as without it`(kind: String) throws {
        let (inside, outside) = (Self.decoder(.required), Self.decoder(.off))
        let file = try Self.file(kind)
        for side in [20, 800] {
            #expect(try inside.decodeUpright(file, maxSide: side).image == outside.decodeUpright(file, maxSide: side).image)
        }
        #expect(
            try ImagePipeline(decoder: inside).finish(file, width: 60, height: 60, format: .png)
                == ImagePipeline(decoder: outside).finish(file, width: 60, height: 60, format: .png))
        #expect(inside.failures == [] && outside.failures == [])
        let status = try inside.idleProcesses.map { try String(contentsOfFile: "/proc/\($0)/status", encoding: .utf8) }
        #expect(status.count == 1 && status[0].contains("\nSeccomp:\t2\n") && status[0].contains("\nNoNewPrivs:\t1\n"))
    }

    @Test func `a HEIC on which its library comments is corrupt, and ends no decoder`() throws {
        let decoder = Self.decoder()
        var file = SmallFiles.heic
        // The width in the sequence's parameters is no multiple of its blocks.
        file[356] ^= 1
        #expect(code { _ = try decoder.decodeUpright(file) } == .corrupt)
        #expect(decoder.failures == [] && decoder.idleProcesses.count == 1)
    }

    @Test func `pictures one after the other share a decoder, and pictures at the same time do not`() async throws {
        let decoder = Self.decoder()
        let file = try Samples.portrait()
        for _ in 0..<3 { _ = try decoder.decodeUpright(file) }
        #expect(decoder.idleProcesses.count == 1)
        let (started, signal) = AsyncStream<Void>.makeStream()
        _ = try await withThrowingTaskGroup(of: Void.self) { group in
            // The first is held up while it is under way, until the second is done.
            let gate = DispatchSemaphore(value: 0)
            group.addTask {
                try await onThread {
                    _ = try ImagePipeline(decoder: decoder).stylise(file, style: .vintage) {
                        signal.finish()
                        gate.wait()
                        gate.signal()
                        return false
                    }
                }
            }
            for await _ in started {}
            _ = try decoder.decodeUpright(file)
            gate.signal()
            try await group.waitForAll()
        }
        #expect(decoder.idleProcesses.count == 2 && decoder.failures == [])
    }

    @Test func `pictures of the priority background have a decoder of their own with a lower priority`() throws {
        let decoder = Self.decoder()
        let file = try Samples.portrait()
        let ordinary = try decoder.decodeUpright(file).image
        let first = try #require(decoder.idleProcesses.first)
        for _ in 0..<2 { #expect(try decoder.decodeUpright(file, priority: .background).image == ordinary) }
        let background = decoder.idleProcesses.filter { $0 != first }
        #expect(background.count == 1)
        #expect(niceness(of: first) == niceness(of: 0))
        #expect(niceness(of: try #require(background.first)) == min(19, niceness(of: 0) + 10))
    }

    @Test func `a decoder that was killed between two pictures is replaced`() async throws {
        let decoder = Self.decoder()
        let file = try Samples.portrait()
        let picture = try decoder.decodeUpright(file).image
        let pid = try #require(decoder.idleProcesses.first)
        kill(pid, SIGKILL)
        // Not the state in /proc: it is already Z when only the main thread has ended, and the others have not.
        let ended = try await onThread {
            var information = siginfo_t()
            return waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
        }
        #expect(ended == 0)
        #expect(try decoder.decodeUpright(file).image == picture)
        #expect(decoder.failures == [.ended(.signalled(SIGKILL))])
        #expect(try #require(decoder.idleProcesses.first) != pid)
    }

    @Test(arguments: [(SIGSEGV, ImagingError.Code.corrupt), (SIGKILL, .unavailable)])
    func `a crash in the middle of a picture refuses it, and a kill from outside only that attempt`(
        signal: Int32, expected: ImagingError.Code
    ) async throws {
        let decoder = Self.decoder()
        try decoder.check()
        let pid = try #require(decoder.idleProcesses.first)
        let file = try Samples.portrait()
        // Stopped, so that it is certainly still at work when the signal comes.
        kill(pid, SIGSTOP)
        async let outcome = onThread { code { _ = try decoder.decodeUpright(file) } }
        try await eventually("the picture is ordered") { decoder.idleProcesses.isEmpty }
        kill(pid, signal)
        kill(pid, SIGCONT)
        #expect(try await outcome == expected)
        #expect(decoder.failures == [.ended(.signalled(signal))])
        #expect(try decoder.decodeUpright(file).image.longSide == 800)
    }

    @Test func `without a sandbox the same program decodes, and says so`() throws {
        let decoder = Self.decoder(.off)
        try decoder.check()
        let pid = try #require(decoder.idleProcesses.first)
        #expect(try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).contains("\nSeccomp:\t0\n"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe").hasSuffix("/image-decoder"))
    }
}

/// Runs blocking work on a thread of its own.
private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try work() }) }.start()
    }
}
