public import AsyncPrimitives
public import Logging
import Metrics
public import ServiceLifecycle
public import WireFormat

/// Gives every instance of a service every event that is published while it runs.
///
/// Broadcasts are hints: events from before its start or during an outage of the server are missed, so their users also poll the
/// database.
public struct BroadcastReader: Service {
    /// The callback for the events of one type.
    public struct Registration: Sendable {
        let streams: [String]
        let type: EventType
        let receive: @Sendable (EncodedEnvelope) async throws(WireFormatError) -> Void

        /// Calls `body` for each event of a type, one after the other for each of its streams; it must not take long.
        public static func on<Body: Event>(
            _ type: Body.Type, _ body: @escaping @Sendable (Envelope<Body>) async -> Void
        ) -> Registration {
            Registration(streams: Body.streams, type: Body.type) { envelope throws(WireFormatError) in
                await body(try envelope.decode())
            }
        }
    }

    /// The age at which broadcast events are deleted from their streams; no reader needs older ones.
    private static let retention = Duration.seconds(600)
    /// The most events of one read.
    private static let maxReadCount = 256

    private let transport: any EventTransport
    private let registrations: [EventType: Registration]
    private let streams: Set<String>
    private let readWait: Duration
    private let logger: Logger
    private let clock: any MonotonicClock
    private let received: Counter
    private let reconnects: Counter

    /// Makes a reader.
    ///
    /// - Parameter handlers: One for each type of event.
    public init(
        transport: any EventTransport, readWait: Duration = .seconds(2), logger: Logger,
        clock: any MonotonicClock = ContinuousClock(), handlers: [Registration]
    ) {
        self.transport = transport
        self.readWait = readWait
        self.logger = logger
        self.clock = clock
        registrations = Dictionary(handlers.map { ($0.type, $0) }) { first, _ in first }
        streams = Set(handlers.flatMap(\.streams))
        received = Counter(label: "bus_broadcast_received_total")
        reconnects = Counter(label: "bus_broadcast_reconnects_total")
    }

    /// Reads until graceful shutdown or cancellation.
    public func run() async throws {
        let stopping = AsyncLatch()
        await withTaskCancellationOrGracefulShutdownHandler {
            // Each stream has a connection of its own: in a cluster, one read cannot wait for streams of several servers.
            await withTaskGroup { group in
                for stream in streams { group.addTask { await read(stream, until: stopping) } }
            }
        } onCancelOrGracefulShutdown: {
            stopping.open()
        }
    }

    private func read(_ stream: String, until stopping: AsyncLatch) async {
        let backoff = Backoff(min: .milliseconds(50), max: .seconds(2))
        var failures = 0
        while !stopping.isOpen {
            do throws(EventBusError) {
                try await readOverOneConnection(stream, until: stopping) { failures = 0 }
            } catch  where error.code == .cancelled || error.code == .shutDown {
                return
            } catch {
                failures += 1
                reconnects.increment()
                logger.warning("Reading broadcasts failed; trying again", metadata: ["error": "\(error)"])
                await stopping.wait(upTo: backoff.delay(afterFailures: failures), clock: clock)
            }
        }
    }

    private func readOverOneConnection(
        _ stream: String, until stopping: AsyncLatch, onSuccess: () -> Void
    ) async throws(EventBusError) {
        let tail = try await transport.openTail(stream: stream)
        let interrupter = Task {
            await stopping.wait()
            while !Task.isCancelled {
                await tail.interrupt()
                try? await clock.sleep(for: .milliseconds(100))
            }
        }
        defer { interrupter.cancel() }
        do throws(EventBusError) {
            var lastTrim: ContinuousClock.Instant?
            while !stopping.isOpen {
                if lastTrim.map({ clock.now - $0 > Self.retention / 10 }) ?? true {
                    lastTrim = clock.now
                    try await transport.trim(stream, ungroupedAge: Self.retention)
                }
                let entries = try await tail.read(count: Self.maxReadCount, wait: readWait)
                onSuccess()
                for entry in entries { await receive(entry) }
            }
        } catch {
            await tail.close()
            throw error
        }
        await tail.close()
    }

    private func receive(_ entry: TailEntry) async {
        do throws(WireFormatError) {
            let envelope = try EncodedEnvelope(streamFields: entry.contents)
            guard let registration = registrations[envelope.type] else { return }
            received.increment()
            try await registration.receive(envelope)
        } catch {
            logger.error(
                "A broadcast message cannot be read",
                metadata: ["stream": "\(entry.stream)", "entry": "\(entry.id)", "error": "\(error)"])
        }
    }
}
