public import ImageProbe
public import Logging
package import Metrics
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Decodes untrusted pictures to plain pixels, in child processes without access to files, networks and other processes.
///
/// It starts a child for each picture that is decoded at the same time, and keeps it for later pictures. A child that crashes, takes too
/// long or answers wrongly is replaced, and its picture is refused. Its answers are checked like untrusted pictures.
///
/// All functions **block**: call them on a dedicated thread, never on the cooperative pool.
public final class ImageDecoder: Sendable {
    /// A decoded picture and its size in the file.
    public struct Decoded: Sendable {
        /// The picture, upright, scaled down if it was larger than `maxSide`.
        public let image: RGBImage
        /// Pixels across in the file, once upright.
        public let originalWidth: Int
        /// Pixels down in the file, once upright.
        public let originalHeight: Int
    }

    private struct State {
        var idle: [DecoderPriority: [DecoderProcess]] = [:]
        var failures: [DecoderFailure] = []
        var startFailure: String?
    }

    /// The most failures that are kept for ``failures``.
    private static let maxKeptFailures = 100
    /// The longest time that a picture may take: the largest ones take a second or two, and ten times as long on a busy machine.
    package static let usualPatience = Duration.seconds(60)
    /// The processor time that a picture may take, as a multiple of ``ImageInfo/cost`` and on top of ``usualBasicTime``: machines differ,
    /// and pictures of one structure too.
    private static let costFactor = 8
    /// The processor time that is allowed for any picture, in addition: rendering it takes some.
    package static let usualBasicTime = Duration.seconds(2)

    private let mode: SandboxMode
    private let executable: String
    private let arguments: [String]
    private let patience: Duration
    private let basicTime: Duration
    private let logger: Logger
    private let failureCounters: [DecoderFailure.Kind: Counter]
    private let state = Mutex(State())

    /// Creates a decoder, which starts no process before its first picture or ``check()``.
    ///
    /// - Parameters:
    ///   - sandbox: The sandbox of the child processes.
    ///   - logger: Receives the failures of child processes.
    public convenience init(sandbox: SandboxMode, logger: Logger) {
        self.init(sandbox: sandbox, logger: logger, executable: Self.siblingExecutable)
    }

    /// Creates a decoder with another program, or with other times.
    package init(
        sandbox: SandboxMode, logger: Logger, executable: String, arguments: [String] = [], patience: Duration = usualPatience,
        basicTime: Duration = usualBasicTime, metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        (mode, self.logger, self.executable, self.arguments) = (sandbox, logger, executable, arguments)
        (self.patience, self.basicTime) = (patience, basicTime)
        // All are there from the start: to Prometheus, a counter that begins with 1 has not increased.
        failureCounters = Dictionary(
            uniqueKeysWithValues: DecoderFailure.Kind.allCases.map { kind in
                (kind, Counter(label: "image_decoder_failures_total", dimensions: [("kind", kind.rawValue)], factory: metrics))
            })
    }

    /// The path of `image-decoder`, which is installed beside the program that runs.
    package static var siblingExecutable: String {
        #if canImport(Glibc)
            let own = realpath("/proc/self/exe", nil)
        #else
            let own = realpath(CommandLine.arguments[0], nil)
        #endif
        defer { free(own) }
        let folder = own.map { String(cString: $0) }?.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return (folder ?? []).joined(separator: "/") + "/image-decoder"
    }

    /// Starts a child process, and logs whether it is in a sandbox.
    ///
    /// - Throws: ``ImagingError`` with `unavailable` when it does not start, or has no sandbox although one is required.
    public func check() throws(ImagingError) {
        do throws(DecoderFailure) {
            let (process, sandbox) = try start(.ordinary)
            giveBack(process, .ordinary)
            switch sandbox {
            case .entered: logger.info("pictures are decoded in a sandbox")
            case .off: logger.warning("pictures are decoded without a sandbox")
            case .unsupported(let reason): logger.warning("pictures are decoded without a sandbox", metadata: ["reason": "\(reason)"])
            }
        } catch {
            throw error.pictureError
        }
    }

    /// Throws when the last start of a child process failed, for readiness checks.
    ///
    /// - Throws: ``ImagingError`` with `unavailable`.
    public func checkLastStart() throws(ImagingError) {
        if let reason = state.withLock({ $0.startFailure }) { throw ImagingError(.unavailable, reason) }
    }

    /// Decodes a JPEG, PNG, WebP or HEIC file, turned upright by its EXIF orientation, without metadata.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxSide: The maximum longer side of the result, in pixels; smaller pictures keep their size.
    ///   - minSide: The minimum shorter side of the file's picture, in pixels; a smaller one is `tooSmall`.
    ///   - limits: The limits of the file; checked on its header, before memory is allocated for pixels.
    ///   - priority: The scheduling priority of the child process.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, `corrupt` (a file that is cut off counts as such), `tooSmall`, or
    ///   `unavailable`.
    public func decodeUpright(
        _ bytes: [UInt8], maxSide: Int = 800, minSide: Int = 1, limits: ImageLimits = ImageLimits(), priority: DecoderPriority = .ordinary
    ) throws(ImagingError) -> Decoded {
        let picture = try decode(bytes, as: .plain(maxSide: maxSide, minSide: minSide), limits: limits, priority: priority)
        return Decoded(
            image: RGBImage(width: picture.size.width, height: picture.size.height, pixels: picture.pixels),
            originalWidth: picture.original.width, originalHeight: picture.original.height)
    }

    /// Decodes a file.
    ///
    /// - Parameter isCancelled: Called many times a second; true ends the work soon after.
    func decode(
        _ bytes: [UInt8], as rendering: DecodeRequest.Rendering, limits: ImageLimits, priority: DecoderPriority = .ordinary,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(ImagingError) -> DecodedPicture {
        let info = try Self.probe(bytes, limits)
        let picture = Self.picture(of: bytes, info)
        func attempt(_ picture: [UInt8]) throws(ImagingError) -> Result<DecodedPicture, ImagingError> {
            let request = DecodeRequest(
                format: info.format, limits: limits, rendering: rendering, byteCount: picture.count, isOpenEnded: info.isOpenEnded)
            do throws(DecoderFailure) {
                let process = try borrow(priority)
                let used = process.processorTime
                let allowed = basicTime + info.cost * Self.costFactor
                var patience = DecoderSocket.Patience(deadline: .now + patience * priority.patienceFactor, isCancelled: isCancelled)
                patience.isOverspent = { (process.processorTime - used) > allowed }
                let outcome = try process.decode(request, picture, patience)
                giveBack(process, priority)
                return outcome
            } catch {
                note(error)
                throw error.pictureError
            }
        }
        let outcome = try attempt(picture)
        if case .failure(let error) = outcome, info.isOpenEnded, let shorter = Self.withoutTrailer(picture, error) {
            return try attempt(shorter).get()
        }
        return try outcome.get()
    }

    /// Returns a JPEG without the bytes that its decoder found between the data and the end; nil for another failure.
    ///
    /// Only a decoder finds the end of the data of a JPEG without an end-of-image marker. For a JPEG of several scans it warns of bytes
    /// after the data, as it warns of data that end early; the warning says how many bytes are too many.
    private static func withoutTrailer(_ picture: [UInt8], _ error: ImagingError) -> [UInt8]? {
        let end = ending(of: .jpeg)
        guard let found = error.message.firstMatch(of: /(\d+) extraneous bytes before marker 0xd9/), let count = Int(found.1), count > 0,
            picture.suffix(end.count).elementsEqual(end), count < picture.count - end.count
        else { return nil }
        return picture.dropLast(count + end.count) + end
    }

    /// Returns the bytes of the picture without trailing bytes, and with an end-of-image marker if it has none.
    private static func picture(of bytes: [UInt8], _ info: ImageInfo) -> [UInt8] {
        guard info.isOpenEnded || info.end < bytes.count else { return bytes }
        return bytes[..<info.end] + (info.isOpenEnded ? ending(of: info.format) : [])
    }

    /// The mark with which a file ends: JPEG's end of image, PNG's empty chunk `IEND`.
    private static func ending(of format: ImageFormat) -> [UInt8] {
        switch format {
        case .jpeg: [0xFF, 0xD9]
        case .png: [0, 0, 0, 0] + "IEND".utf8 + [0xAE, 0x42, 0x60, 0x82]
        case .webp, .heic: []
        }
    }

    /// Checks the structure of a file, in Swift: a file that is no picture does not reach a decoder.
    private static func probe(_ bytes: [UInt8], _ limits: ImageLimits) throws(ImagingError) -> ImageInfo {
        do throws(ImageProbeError) {
            var probe = ImageProbe(limits: limits)
            try probe.feed(bytes.span.bytes)
            return try probe.finish()
        } catch {
            switch error.code {
            case .unsupportedFormat: throw ImagingError(.unsupported, error.message)
            case .tooManyBytes, .tooManyPixels, .tooMuchMemory, .tooCostly, .animated: throw ImagingError(.tooLarge, error.message)
            case .malformed, .truncated: throw ImagingError(.corrupt, error.message)
            }
        }
    }
}

// MARK: Child processes

extension ImageDecoder {
    /// The latest failures of child processes, for tests.
    package var failures: [DecoderFailure] { state.withLock { $0.failures } }

    /// The ids of the child processes that wait for a picture, for tests.
    package var idleProcesses: [Int32] { state.withLock { $0.idle.values.flatMap { $0.map(\.pid) } } }

    /// Returns a child process for one picture.
    private func borrow(_ priority: DecoderPriority) throws(DecoderFailure) -> DecoderProcess {
        while let process = state.withLock({ $0.idle[priority]?.popLast() }) {
            if process.isRunning { return process }
            note(.ended(process.kill()))
        }
        return try start(priority).0
    }

    private func start(_ priority: DecoderPriority) throws(DecoderFailure) -> (DecoderProcess, SandboxState) {
        do throws(DecoderFailure) {
            let started = try DecoderProcess.start(executable, arguments: arguments, mode: mode)
            started.0.setPriority(priority)
            state.withLock { $0.startFailure = nil }
            return started
        } catch {
            state.withLock { $0.startFailure = error.pictureError.message }
            throw error
        }
    }

    private func giveBack(_ process: DecoderProcess, _ priority: DecoderPriority) {
        state.withLock { $0.idle[priority, default: []].append(process) }
    }

    private func note(_ failure: DecoderFailure) {
        guard let kind = failure.kind else { return }
        state.withLock { state in
            state.failures = state.failures.suffix(Self.maxKeptFailures - 1) + [failure]
        }
        failureCounters[kind]?.increment()
        let level: Logger.Level = kind == .violation ? .error : .warning
        logger.log(level: level, "a decoder of pictures failed", metadata: ["kind": "\(kind.rawValue)", "error": "\(failure)"])
    }
}
