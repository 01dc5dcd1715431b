internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FaceEngine
internal import PostgresClient

/// Makes the workers read all faces again, and compares their memory with the tables.
struct FacesReindexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex",
        abstract: "Have the running workers read all faces anew, and compare what they have in memory with the tables.",
        discussion: """
            Workers follow the tables by themselves: this is for a doubt, and after a repair of the tables by hand. Sign-ups and sign-ins \
            go on meanwhile. A worker with FACE_DUPLICATES=off has no faces in memory and does not take part.

              heliographctl faces reindex
              heliographctl faces reindex --check --json
            """
    )

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Compare only.")
    var check = false

    @Option(name: .long, help: ArgumentHelp("The longest wait for the workers.", valueName: "time"))
    var timeout = TimeSpan(.seconds(600))

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    /// The time for which a worker may differ from the tables after it has read them: the time of several reports.
    private static let patience = Duration.seconds(30)

    func run() async throws {
        let isDone = try await options.database.withDatabase(queryTimeout: .seconds(60)) { client in
            var comparison = FaceIndexComparison(try await state(client))
            guard !comparison.workers.isEmpty else {
                Console.current.note(
                    "No worker has reported in the last \(HumanUnits.age(FaceIndexRepository.reportLifetime)): no face-matching-worker "
                        + "runs, or all have FACE_DUPLICATES=off, or none reaches the database.")
                throw ExitCode.nothingFound
            }
            if !check { comparison.request = try await request(client) }
            try await follow(&comparison, client)
            try Console.current.show(comparison, asJSON: json)
            return comparison.isEqual
        }
        guard isDone else { throw ExitCode.failure }
    }

    private func request(_ client: PostgresClient) async throws -> Int64 {
        try await client.withTransaction { transaction in
            try await AuditRepository(transaction).append(AuditEntry(.faceReindexRequested, by: options.actor, on: nil))
            return try await FaceIndexRepository(transaction).request()
        }
    }

    private func state(_ client: PostgresClient) async throws -> FaceIndexState {
        let model = FaceModel(id: FaceModels.modelID, pipelineVersion: Int(EnrolledFace.currentPipelineVersion))
        return try await FaceIndexRepository(client).state(of: model)
    }

    /// Compares every second until all workers agree with the tables, all have read them and still differ, no worker runs, or the time is
    /// over.
    private func follow(_ comparison: inout FaceIndexComparison, _ client: PostgresClient) async throws {
        let end = ContinuousClock.now + timeout.duration
        var (readAt, progress): (ContinuousClock.Instant?, [PrintableText]) = (nil, [])
        while !comparison.isEqual, !comparison.workers.isEmpty, ContinuousClock.now < end {
            if comparison.isRead {
                let since = readAt ?? .now
                readAt = since
                if ContinuousClock.now - since > Self.patience { return }
            } else {
                // Another worker has begun meanwhile.
                readAt = nil
            }
            if comparison.progress != progress {
                progress = comparison.progress
                progress.forEach(Console.current.note)
            }
            try await Task.sleep(for: .seconds(1))
            comparison.add(try await state(client))
        }
    }
}
