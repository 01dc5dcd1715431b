internal import Accounts
internal import AsyncPrimitives
internal import FaceEngine
internal import HeliographCrypto
internal import Logging
internal import Metrics
internal import PostgresClient

/// Fills the indexes of faces from Postgres and keeps them current.
///
/// Each worker has indexes of its own, and an event reaches one worker only, so changes are not learned from events: a look at what
/// has changed in Postgres precedes each search. The first look reads all faces.
actor FaceIndexFeed {
    /// The faces of this network and pipeline.
    static let model = FaceModel(id: FaceModels.modelID, pipelineVersion: Int(EnrolledFace.currentPipelineVersion))
    /// The faces that are read at a time.
    private static let pageSize = 2_000
    /// The number of faces after which the progress is logged.
    private static let progressStep = 100_000

    nonisolated let index = FaceIndexes()
    private let postgres: PostgresClient
    private let sealer: Sealer
    private let logger: Logger
    private let clock: any MonotonicClock
    private var position: FacePosition?
    private var lastLook: ContinuousClock.Instant
    /// The last requested look or page; the next one waits for its end, so that one runs at a time.
    private var turn: Task<Void, Never>?
    /// The look that has not begun yet.
    private var next: Task<FacePosition, any Error>?
    /// The faces of the tables that cannot be used.
    private var unusable: Set<Int64> = []
    /// The faces that were read, while all are read.
    private var facesRead: Int?
    /// The last completed request to reindex; nil before the first load.
    private var reindexed: Int64?
    /// How often the memory was emptied to read all faces.
    private var loads = 0

    init(postgres: PostgresClient, sealer: Sealer, logger: Logger, clock: any MonotonicClock = ContinuousClock()) {
        (self.postgres, self.sealer, self.logger, self.clock) = (postgres, sealer, logger, clock)
        lastLook = clock.now
    }

    /// Brings the index to the state that is committed now, and returns its position, which may be a little older.
    ///
    /// One look runs at a time. Callers that arrive meanwhile share the next one: the running one may have missed the change that they
    /// need.
    func refresh() async throws -> FacePosition {
        if let next { return try await next.value }
        let task = inTurn { feed in
            feed.next = nil
            return try await feed.look()
        }
        next = task
        return try await task.value
    }

    /// Reindexes, unless that was done since the request: reads all faces into the same memory a second time, and removes faces that the
    /// tables do not have.
    ///
    /// Searches go on: they find what they found before, and wait for a page at most.
    func reindex(request: Int64) async throws {
        guard let reindexed, reindexed < request else { return }
        let begin = loads
        var stale = Set(await index.numbers)
        var (end, count): (Int64?, Int) = (nil, 0)
        defer { facesRead = nil }
        repeat {
            try Task.checkCancellation()
            let after = end
            facesRead = count
            let page = try await inTurn { feed in try await feed.read(after: after) }.value
            // A look has read all faces, of an earlier state of the database, to which `stale` does not belong.
            guard loads == begin else { return }
            stale.subtract(page.map(\.number))
            count += page.count
            end = page.count < Self.pageSize ? nil : page.last?.number
        } while end != nil
        let gone = stale
        try await inTurn { feed in
            guard feed.loads == begin else { return }
            await feed.index.apply(removed: Array(gone))
            feed.unusable.subtract(gone)
            feed.reindexed = request
        }.value
        await record()
        logger.notice("faces read anew", metadata: ["faces": "\(count)", "removed": "\(gone.count)", "unusable": "\(unusable.count)"])
    }

    /// Describes the index, for operators.
    func report(of worker: String) async -> FaceIndexReport {
        let faces = await index.count
        return FaceIndexReport(worker: worker, faces: faces, unusable: unusable.count, facesRead: facesRead, reindexed: reindexed)
    }

    private func inTurn<Value: Sendable>(
        _ body: @escaping @Sendable (isolated FaceIndexFeed) async throws -> Value
    ) -> Task<Value, any Error> {
        let before = turn
        let task = Task {
            await before?.value
            return try await body(self)
        }
        turn = Task { _ = await task.result }
        return task
    }

    private func look() async throws -> FacePosition {
        guard let position, clock.now - lastLook < FaceChangeRepository.removalLifetime / 2 else { return try await load() }
        let begin = clock.now
        let changes = try await FaceChangeRepository(postgres).changes(since: position)
        guard !changes.isReset else {
            logger.notice("Postgres is at an earlier state; its faces are read anew")
            return try await load()
        }
        let missing = await index.missing(of: changes.added)
        for start in stride(from: 0, to: missing.count, by: Self.pageSize) {
            let numbers = Array(missing[start..<min(start + Self.pageSize, missing.count)])
            try await add(try await FaceChangeRepository(postgres).faces(of: Self.model, numbers: numbers))
        }
        await index.apply(removed: changes.removed)
        unusable.subtract(changes.removed)
        (self.position, lastLook) = (changes.position, begin)
        await record()
        return changes.position
    }

    private func load() async throws -> FacePosition {
        (position, reindexed, unusable) = (nil, nil, [])
        loads += 1
        await index.removeAll()
        let begin = clock.now
        let request = try await FaceIndexRepository(postgres).lastRequest()
        let start = try await FaceChangeRepository(postgres).position()
        var (end, count): (Int64?, Int) = (nil, 0)
        defer { facesRead = nil }
        repeat {
            facesRead = count
            let page = try await read(after: end)
            if count / Self.progressStep != (count + page.count) / Self.progressStep {
                logger.info("faces are being read", metadata: ["faces": "\(count + page.count)"])
            }
            count += page.count
            end = page.count < Self.pageSize ? nil : page.last?.number
        } while end != nil
        (position, lastLook, reindexed) = (start, begin, request)
        await record()
        logger.info(
            "faces read",
            metadata: ["faces": "\(count)", "seconds": "\((clock.now - begin) / .seconds(1))", "unusable": "\(unusable.count)"])
        if await !index.isLocked {
            logger.notice("the memory of the faces may be written to swap: the limit of locked memory (ulimit -l) is too low")
        }
        return start
    }

    private func read(after number: Int64?) async throws -> [NumberedFace] {
        let page = try await FaceChangeRepository(postgres).page(of: Self.model, after: number, limit: Self.pageSize)
        try await add(page)
        return page
    }

    /// Adds faces, and keeps the numbers of those that cannot be used.
    private func add(_ faces: [NumberedFace]) async throws {
        var (accounts, waiting): ([(number: Int64, code: FaceCode)], [(number: Int64, code: FaceCode)]) = ([], [])
        var failed: [Int64] = []
        for face in faces {
            guard let bytes = Self.bytes(of: face, sealer), let code = FaceCode(encodedTemplate: bytes) else {
                failed.append(face.number)
                continue
            }
            if face.isWaiting { waiting.append((face.number, code)) } else { accounts.append((face.number, code)) }
        }
        unusable.subtract((accounts + waiting).map(\.number))
        unusable.formUnion(failed)
        guard await index.apply(added: accounts, waiting: waiting, removed: failed) else { throw FaceIndexFull() }
    }

    /// Opens a face; nil for one that is damaged, or of another network.
    static func template(of face: NumberedFace, _ sealer: Sealer) -> EnrolledFace? {
        guard let bytes = bytes(of: face, sealer), let template = try? EnrolledFace(decoding: bytes), template.isComparable else {
            return nil
        }
        return template
    }

    private static func bytes(of face: NumberedFace, _ sealer: Sealer) -> [UInt8]? {
        try? sealer.open(face.templateSealed, context: SealingContext.faceTemplate(userID: face.userID))
    }

    private func record() async { Gauge(label: "face_index_faces").record(await index.count) }
}

/// Thrown when there are more faces than the index takes: `FACE_DUPLICATES=off` goes on without the search.
struct FaceIndexFull: Error {}
