import Accounts
import FaceEngine
import Foundation
import HTTPClient
import HeliographCrypto
import Logging
import PostgresClient
import TestSupport
import Testing

/// Tests `heliographctl faces reindex` on a running worker, both of which are killed meanwhile.
///
/// `FACES=1000000` has that number of made-up faces in the tables, and prints times and memory.
@Suite struct FaceReindexTests {
    private static let faces = ProcessInfo.processInfo.environment["FACES"].flatMap { Int($0) }
    private static let worker = "face-matching-worker"
    /// What the operator sees when all is well.
    private static let isEqual = #""is_equal" : true"#
    /// What a million faces may take.
    private static let limit = Duration.seconds(1_800)

    @Test func `the memory is that of the tables after a repair by hand, whatever is killed before it is read anew`() async throws {
        let stack = try await Stack.start(services: [])
        let count = Self.faces ?? 5_000
        try await measure("storing", stack) { try await Self.store(count, in: stack) }
        try await measure("the start", stack) { try await start(stack) }
        let check = try await measure("a check", stack) { try await reindex(stack, "--check") }
        #expect(check.contains(Self.isEqual))

        // A repair that no trigger sees, so that the worker does not learn of it.
        try await stack.database.psql(
            """
            SET session_replication_role = replica;
            DELETE FROM face_templates WHERE number IN (SELECT number FROM face_templates ORDER BY number DESC LIMIT 7)
            """)
        let failure = await #expect(throws: CommandLineTool.Failure.self) { try await reindex(stack, "--check", "--timeout", "7s") }
        #expect(failure?.exitCode == 1 && failure?.output.contains(#""difference" : 7"#) == true, "\(failure?.output ?? "")")

        try await killOperator(stack)
        try await measure("reading anew without the operator", stack) { try await waitForRequest(stack) }
        #expect(try await reindex(stack, "--check").contains(Self.isEqual))

        let reading = try await measure("reading anew", stack) { try await reindex(stack) }
        #expect(reading.contains(Self.isEqual))
        let output = try await killWorker(stack)
        #expect(output.contains(Self.isEqual) && output.contains(#""faces" : \#(count - 7)"#), "\(output)")
    }

    /// Kills `heliographctl` as soon as it has asked for the faces to be read anew.
    private func killOperator(_ stack: Stack) async throws {
        let requests = try await requests(stack)
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("reindex-\(UUID().uuidString).log").path
        defer { try? FileManager.default.removeItem(atPath: log) }
        let control = try GuardedProcess(
            [try PackageRoot.executable("heliographctl"), "faces", "reindex"], log: log, environment: ["DATABASE_URL": stack.database.url])
        try await control.waitUntil("the request is there") { try await self.requests(stack) > requests }
        await control.stop(signal: SIGKILL)
    }

    /// Kills the worker that is to read the faces anew, starts another one, and returns what the operator sees.
    private func killWorker(_ stack: Stack) async throws -> String {
        let requests = try await requests(stack)
        async let output = reindex(stack)
        try await eventually("the request is there") { try await self.requests(stack) > requests }
        await stack.kill(Self.worker)
        try await measure("the start after the kill", stack) { try await start(stack) }
        // The report of a worker that was killed counts for half a minute.
        try await stack.database.psql(
            """
            UPDATE face_indexes SET reported_at = reported_at - interval '1 minute'
            WHERE reported_at < (SELECT max(reported_at) FROM face_indexes)
            """)
        return try await output
    }

    // MARK: Parts

    private func reindex(_ stack: Stack, _ options: String...) async throws -> String {
        try await CommandLineTool.run(
            [PackageRoot.executable("heliographctl"), "faces", "reindex", "--json", "--timeout", "1800s"] + options,
            environment: ["DATABASE_URL": stack.database.url])
    }

    private func requests(_ stack: Stack) async throws -> Int {
        Int(try await stack.database.psql("SELECT count(*) FROM face_reindexes")) ?? 0
    }

    private func waitForRequest(_ stack: Stack) async throws {
        try await eventually(within: Self.limit, "the request to be done") {
            let query = "SELECT count(*) FROM face_indexes WHERE reindexed = (SELECT max(number) FROM face_reindexes)"
            return try await stack.database.psql(query) == "1"
        }
    }

    /// Starts a worker, and waits until it has read all faces.
    private func start(_ stack: Stack) async throws {
        try stack.launch(Self.worker)
        try await eventually(within: Self.limit, "the faces are read; \(stack.tail(of: Self.worker))") {
            (try? await stack.http.execute(.init(url: stack.adminURL(of: Self.worker) + "/readyz")))?.status == 200
        }
    }

    private func measure<Value>(_ what: String, _ stack: Stack, _ body: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        let value = try await body()
        guard Self.faces != nil else { return value }
        let seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
        print("\(what): \(seconds) s, worker at most \(stack.peakMemory(of: Self.worker) ?? 0) MiB")
        return value
    }

    /// Stores accounts with made-up faces, of which some are alike: it is the sealed bytes that are many.
    private static func store(_ count: Int, in stack: Stack) async throws {
        let templates = (0..<100).map { _ in
            let face = FaceDescriptor(normalising: (0..<FaceDescriptor.count).map { _ in Float.random(in: -1...1) })
            return EnrolledFace(left: [face], right: [face], front: [face], isMirrored: false).encoded()
        }
        let keys = try KeyRings(of: stack)
        var configuration = PostgresConfiguration(url: stack.database.url)
        configuration.queryTimeout = .seconds(60)
        let client = try PostgresClient(configuration: configuration, logger: .init(label: "faces"))
        for start in stride(from: 0, to: count, by: 2_000) {
            let ids = (start..<min(start + 2_000, count)).map { _ in UUID() }
            let sealed = try zip(ids, start...).map { id, number in
                try keys.seal(templates[number % templates.count], for: .faces, context: SealingContext.faceTemplate(userID: id))
            }
            try await client.execute("INSERT INTO users (id) SELECT unnest(\(ids))")
            try await client.execute(
                """
                INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
                SELECT id, \(FaceModels.modelID), \(Int(EnrolledFace.currentPipelineVersion)), sealed
                FROM unnest(\(ids), \(sealed)) AS f (id, sealed)
                """)
        }
        await client.shutdown()
    }
}
