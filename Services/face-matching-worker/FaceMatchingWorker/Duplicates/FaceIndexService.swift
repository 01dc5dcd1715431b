internal import Accounts
internal import AsyncPrimitives
internal import EventBus
internal import Logging
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle

/// Reads all faces before the first session is decided, and then looks for changes periodically, so that erased faces leave the memory even
/// when nothing is searched. Reports the content of the memory, and reads all faces a second time when an operator asks for it
/// (`heliographctl faces reindex`).
struct FaceIndexService: Service {
    /// The interval of looks when nothing is searched.
    static let interval = Duration.seconds(10)
    /// The interval of reports. A worker that misses one report still counts as running.
    static let reportInterval = Duration.seconds(5)

    let feed: FaceIndexFeed
    let postgres: PostgresClient
    let logger: Logger
    let clock: any MonotonicClock
    /// The name in reports.
    let worker: String
    /// Open when all faces have been read.
    let loaded = AsyncLatch()

    func run() async throws {
        await withTaskGroup { group in
            group.addTask {
                await periodically("reading faces", every: Self.interval, logger: logger, clock: clock) {
                    _ = try await feed.refresh()
                    loaded.open()
                }
            }
            group.addTask { try? await FaceMatchingWorker.sweeper(postgres: postgres, logger: logger, clock: clock).run() }
            let (requests, request) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask {
                await periodically("reporting faces", every: Self.reportInterval, logger: logger, clock: clock) {
                    request.yield(try await report())
                }
                request.finish()
            }
            group.addTask { await reindex(requests) }
        }
        // In a new task, because this task may have been cancelled.
        _ = await Task { try? await FaceIndexRepository(postgres).remove(worker: worker) }.value
    }

    /// Reports the content of the memory.
    ///
    /// - Returns: The last request to reindex.
    func report() async throws -> Int64 {
        let indexes = FaceIndexRepository(postgres)
        try await indexes.report(await feed.report(of: worker))
        return try await indexes.lastRequest()
    }

    /// A request that fails is read again with the next report.
    private func reindex(_ requests: AsyncStream<Int64>) async {
        await cancelWhenGracefulShutdown {
            for await request in requests {
                do {
                    try await feed.reindex(request: request)
                } catch  where !Task.isCancelled {
                    logger.warning("reading faces anew failed", metadata: ["error": "\(error)"])
                } catch {}
            }
        }
    }

    /// Throws until the faces have been read.
    func checkLoaded() throws {
        guard loaded.isOpen else { throw FacesNotRead() }
    }
}

/// The reason why a worker is not ready yet.
struct FacesNotRead: Error, CustomStringConvertible {
    var description: String { "the faces of the accounts are being read" }
}

/// Consumes once the faces have been read: a sign-up that waited for them would hold a sign-in up.
struct ConsumerAfterFaces: Service {
    let consumer: EventConsumer
    let loaded: AsyncLatch

    func run() async throws {
        await cancelWhenGracefulShutdown { await loaded.wait() }
        guard loaded.isOpen else { return }
        try await consumer.run()
    }
}
