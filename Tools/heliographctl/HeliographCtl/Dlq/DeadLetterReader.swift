internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import PostgresClient
internal import WireFormat

/// Reads the dead letters of all groups, or of the groups of one stream.
struct DeadLetterReader {
    /// Dead letters fetched at once; each has about 64 KiB at most.
    private static let pageSize = 200

    let repository: DeadLetterRepository
    let groups: [StreamGroup]

    /// - Parameter stream: Nil for all streams.
    init(_ postgres: PostgresClient, stream: String?) {
        repository = DeadLetterRepository(postgres)
        groups = KnownGroups.all.filter { stream == nil || $0.stream == stream }.flatMap(\.groups)
    }

    /// Calls `body` with every dead letter, the oldest of each group first, until it returns false.
    func forEach(reason: DeadLetterReason?, _ body: (DeadLetter) throws -> Bool) async throws {
        for group in groups {
            var last: DeadLetter?
            while true {
                let page = try await repository.page(of: group, after: last, limit: Self.pageSize)
                for letter in page where reason == nil || letter.reason == reason {
                    guard try body(letter) else { return }
                }
                guard page.count == Self.pageSize else { break }
                last = page.last
            }
        }
    }

    /// Parses the reason of a dead letter.
    static func reason(_ argument: String) throws -> DeadLetterReason {
        guard let reason = DeadLetterReason(rawValue: argument) else {
            throw ValidationError("--reason is \(DeadLetterReason.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return reason
    }

    /// Refuses the name of an unknown stream, because a typing error must not look like an empty stream.
    static func check(stream: String) throws {
        guard KnownGroups.all.contains(where: { $0.stream == stream }) else {
            let names = KnownGroups.all.filter { !$0.groups.isEmpty }.map(\.stream)
            throw ValidationError("There is no stream \(stream.printable). Those with dead letters are: \(names.joined(separator: ", ")).")
        }
    }
}
