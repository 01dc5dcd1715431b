internal import AsyncPrimitives
internal import FaceEngine
internal import HeliographCrypto
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Storage

/// Fills the index of faces from Postgres and keeps it current.
///
/// Each worker has an index of its own, and an event reaches one worker only, so changes are not learned from events: a look at what
/// has changed in Postgres precedes each search. The first look reads all faces.
actor FaceIndexFeed {
    /// The faces of this network and pipeline.
    static let model = FaceModel(id: FaceModels.modelID, pipelineVersion: Int(EnrolledFace.currentPipelineVersion))
    /// The faces that are read at a time.
    private static let pageSize = 2_000
    /// The number of faces after which the progress is logged.
    private static let progressStep = 100_000

    nonisolated let index = FaceIndex()
    private let postgres: PostgresClient
    private let sealer: Sealer
    private let logger: Logger
    private let clock: any MonotonicClock
    private var position: FacePosition?
    private var lastLook: ContinuousClock.Instant
    /// The look that was asked for last.
    private var last: Task<FacePosition, any Error>?
    private var hasLastBegun = true

    init(postgres: PostgresClient, sealer: Sealer, logger: Logger, clock: any MonotonicClock = ContinuousClock()) {
        (self.postgres, self.sealer, self.logger, self.clock) = (postgres, sealer, logger, clock)
        lastLook = clock.now
    }

    /// Brings the index to the state that is committed now, and returns its position, which may be a little older.
    ///
    /// One look runs at a time. Those who ask meanwhile share the next one: the running one may have missed what they need.
    func refresh() async throws -> FacePosition {
        if let last, !hasLastBegun { return try await last.value }
        let before = last
        hasLastBegun = false
        let task = Task {
            _ = await before?.result
            hasLastBegun = true
            return try await look()
        }
        last = task
        return try await task.value
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
        (self.position, lastLook) = (changes.position, begin)
        await record()
        return changes.position
    }

    private func load() async throws -> FacePosition {
        position = nil
        await index.removeAll()
        let begin = clock.now
        let repository = FaceChangeRepository(postgres)
        let start = try await repository.position()
        var (end, count, unusable): (Int64?, Int, Int) = (nil, 0, 0)
        repeat {
            let page = try await repository.page(of: Self.model, after: end, limit: Self.pageSize)
            unusable += try await add(page)
            if count / Self.progressStep != (count + page.count) / Self.progressStep {
                logger.info("faces are being read", metadata: ["faces": "\(count + page.count)"])
            }
            count += page.count
            end = page.count < Self.pageSize ? nil : page.last?.number
        } while end != nil
        (position, lastLook) = (start, begin)
        await record()
        logger.info(
            "faces read", metadata: ["faces": "\(count)", "seconds": "\((clock.now - begin) / .seconds(1))", "unusable": "\(unusable)"])
        if await !index.isLocked {
            logger.notice("the memory of the faces may be written to swap: the limit of locked memory (ulimit -l) is too low")
        }
        return start
    }

    /// Adds faces, and returns the number of those that cannot be used.
    @discardableResult
    private func add(_ faces: [NumberedFace]) async throws -> Int {
        let codes = faces.compactMap { face -> (number: Int64, code: FaceCode)? in
            guard let bytes = Self.bytes(of: face, sealer), let code = FaceCode(encodedTemplate: bytes) else { return nil }
            return (face.number, code)
        }
        guard await index.apply(added: codes) else { throw FaceIndexFull() }
        return faces.count - codes.count
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
