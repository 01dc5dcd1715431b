internal import ArgumentParser
internal import EventBus
internal import RedisClient
internal import WireFormat

/// A dead letter and whose it is.
struct FiledLetter: Sendable {
    let group: StreamGroup
    let letter: DeadLetter
}

/// The dead letters of all groups, or of those of one stream.
struct DeadLetterFile {
    /// How many are fetched at once; one has at most 64 KiB.
    private static let pageSize = 200

    let transport: RedisEventTransport
    let groups: [StreamGroup]

    /// - Parameter stream: Nil for all streams.
    init(_ transport: RedisEventTransport, stream: String?) {
        self.transport = transport
        groups = KnownGroups.all.filter { stream == nil || $0.stream == stream }.flatMap(\.groups)
    }

    /// Calls `body` with every dead letter, the oldest of each group first, until it returns false.
    func forEach(reason: DeadLetterReason?, _ body: (FiledLetter) throws -> Bool) async throws {
        for group in groups {
            var last = EntryID.zero
            while true {
                let page = try await transport.deadLetters(of: group, after: last, count: Self.pageSize)
                for letter in page where reason == nil || letter.reason == reason {
                    guard try body(FiledLetter(group: group, letter: letter)) else { return }
                }
                guard page.count == Self.pageSize, let end = page.last?.id else { break }
                last = end
            }
        }
    }

    /// Returns the dead letters with a number; several groups may have one of the same.
    func find(_ id: EntryID) async throws -> [FiledLetter] {
        var found: [FiledLetter] = []
        for group in groups {
            let next = try await transport.deadLetters(of: group, after: id.previous, count: 1)
            found += next.filter { $0.id == id }.map { FiledLetter(group: group, letter: $0) }
        }
        return found
    }

    /// Reads the number of a dead letter from the command line.
    static func id(_ argument: String) throws -> EntryID {
        guard let id = EntryID(argument) else {
            throw ValidationError("\(argument.printable) is no ID of a dead letter, such as 1763731805123-0.")
        }
        return id
    }

    /// Reads a reason from the command line.
    static func reason(_ argument: String) throws -> DeadLetterReason {
        guard let reason = DeadLetterReason(rawValue: argument) else {
            throw ValidationError("--reason is \(DeadLetterReason.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return reason
    }

    /// Refuses the name of a stream that nobody reads; a typing error must not look like an empty stream.
    static func check(stream: String) throws {
        guard KnownGroups.all.contains(where: { $0.stream == stream }) else {
            let names = KnownGroups.all.filter { !$0.groups.isEmpty }.map(\.stream)
            throw ValidationError("There is no stream \(stream.printable). Those with dead letters are: \(names.joined(separator: ", ")).")
        }
    }
}

extension EntryID {
    /// The last possible number before this one.
    var previous: EntryID {
        if sequence > 0 { return EntryID(milliseconds: milliseconds, sequence: sequence - 1) }
        return milliseconds > 0 ? EntryID(milliseconds: milliseconds - 1, sequence: .max) : .zero
    }
}
