import Foundation
import Imaging
import Logging
import ServiceDefaults
import TestSupport
import Testing

/// Tests what a decoder can do that an attacker has taken over by a picture.
@Suite struct HostileDecoderTests {
    private static func decoder(
        _ behaviour: String, patience: Duration = .seconds(60), basicTime: Duration = .seconds(2)
    ) throws -> ImageDecoder {
        ImageDecoder(
            sandbox: .required, logger: Logger(label: "hostile-decoder-tests") { _ in SwiftLogNoOpLogHandler() },
            executable: try PackageRoot.executable("hostile-decoder"), arguments: [behaviour], patience: patience, basicTime: basicTime)
    }

    /// Orders two thumbnails from a decoder, and returns its failures; each picture must be refused with the same code.
    private func failures(
        _ behaviour: String, patience: Duration = .seconds(60), basicTime: Duration = .seconds(2),
        refusedAs expected: ImagingError.Code = .corrupt
    ) throws -> [DecoderFailure] {
        let decoder = try Self.decoder(behaviour, patience: patience, basicTime: basicTime)
        let file = try Samples.quarters()
        for _ in 0..<2 { #expect(code { _ = try ImagePipeline(decoder: decoder).thumbnail(of: file) } == expected) }
        #expect(decoder.idleProcesses == [], "a decoder that misbehaved is used again")
        #expect(decoder.failures.count == 2)
        return decoder.failures
    }

    @Test(arguments: [
        "openFile", "readProc", "makeSocket", "startProgram", "replaceProgram", "signalParent", "mapExecutable", "otherDescriptor",
    ])
    func `in the sandbox no file, no network, no process and no code can be reached`(behaviour: String) throws {
        for failure in try failures(behaviour) { #expect(failure == .ended(.signalled(SIGSYS))) }
    }

    @Test func `a picture that crashes its decoder is refused, and the next one gets a new decoder`() throws {
        for failure in try failures("crash") { #expect(failure == .ended(.signalled(SIGABRT))) }
        for failure in try failures("endsEarly") { #expect(failure == .ended(.exited(status: 0))) }
    }

    @Test func `a decoder cannot take more memory than its limit`() throws {
        // It aborts when it gets no more; without the limit it would take all of the machine's.
        for failure in try failures("exhaustMemory") { #expect(failure == .ended(.signalled(SIGABRT))) }
    }

    @Test func `a decoder that does not answer is ended at the deadline`() throws {
        for failure in try failures("saysNothing", patience: .milliseconds(300)) { #expect(failure == .late) }
    }

    @Test func `a decoder that computes for longer than its picture may take is ended long before the deadline`() throws {
        let start = ContinuousClock.now
        for failure in try failures("saysNothing", basicTime: .milliseconds(100)) { #expect(failure == .late) }
        #expect(ContinuousClock.now - start < ImageDecoder.usualPatience)
    }

    @Test func `failures are counted by kind, from zero`() throws {
        let registry = PrometheusRegistry()
        let decoder = ImageDecoder(
            sandbox: .required, logger: Logger(label: "hostile-decoder-tests") { _ in SwiftLogNoOpLogHandler() },
            executable: try PackageRoot.executable("hostile-decoder"), arguments: ["openFile"],
            metrics: PrometheusMetricsFactory(registry: registry))
        func counts() -> Set<String> {
            Set(registry.exposition().split(separator: "\n").filter { $0.contains("image_decoder_failures_total{") }.map(String.init))
        }
        func series(violations: Int) -> Set<String> {
            Set(
                ["bad_answer", "crash", "killed", "late", "not_started", "violation"].map { kind in
                    "image_decoder_failures_total{kind=\"\(kind)\"} \(kind == "violation" ? violations : 0)"
                })
        }
        #expect(counts() == series(violations: 0))
        let file = try Samples.quarters()
        #expect(code { _ = try ImagePipeline(decoder: decoder).thumbnail(of: file) } == .corrupt)
        #expect(counts() == series(violations: 1))
    }

    @Test func `a cancelled order ends its decoder`() throws {
        let decoder = try Self.decoder("saysNothing")
        let file = try Samples.quarters()
        #expect(
            code { _ = try ImagePipeline(decoder: decoder).stylise(file, style: .vintage, isCancelled: { true }) } == .cancelled)
        #expect(decoder.idleProcesses == [] && decoder.failures == [])
    }

    @Test(arguments: [
        "tooLarge", "negative", "overflowing", "otherSize", "fourBands", "tooManyRows", "tooFewRows", "twoPictures", "longMessage",
        "unknownMessage", "badError",
    ])
    func `an answer that fits no picture of the request is refused`(behaviour: String) throws {
        for failure in try failures(behaviour) {
            guard case .badAnswer = failure else {
                Issue.record("\(failure)")
                continue
            }
        }
    }

    @Test func `a decoder that cannot be started makes no picture corrupt`() throws {
        let missing = ImageDecoder(
            sandbox: .required, logger: Logger(label: "hostile-decoder-tests") { _ in SwiftLogNoOpLogHandler() },
            executable: "/nonexistent/image-decoder")
        let file = try Samples.quarters()
        #expect(code { try missing.check() } == .unavailable)
        #expect(code { _ = try ImagePipeline(decoder: missing).thumbnail(of: file) } == .unavailable)
        #expect(code { try missing.checkLastStart() } == .unavailable)
        // `true` ends at once, and `cat` answers with what it is sent.
        for program in ["/bin/true", "/bin/cat"] {
            let other = ImageDecoder(
                sandbox: .required, logger: Logger(label: "hostile-decoder-tests") { _ in SwiftLogNoOpLogHandler() },
                executable: program)
            #expect(code { try other.check() } == .unavailable)
        }
    }
}
