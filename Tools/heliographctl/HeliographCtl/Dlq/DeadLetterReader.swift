internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import WireFormat

/// A dead letter with its consumer group.
struct GroupDeadLetter: Sendable {
    let group: StreamGroup
    let letter: DeadLetter
}

/// Reads the dead letters of all groups, or of the groups of one stream.
struct DeadLetterReader {
    /// Dead letters fetched at once; each has at most 64 KiB.
    private static let pageSize = 200

    let transport: RedisEventTransport
    let groups: [StreamGroup]

    /// - Parameter stream: Nil for all streams.
    init(_ transport: RedisEventTransport, stream: String?) {
        self.transport = transport
        groups = KnownGroups.all.filter { stream == nil || $0.stream == stream }.flatMap(\.groups)
    }

    /// Calls `body` with every dead letter, the oldest of each group first, until it returns false.
    func forEach(reason: DeadLetterReason?, _ body: (GroupDeadLetter) throws -> Bool) async throws {
        for group in groups {
            var last = EntryID.zero
            while true {
                let page = try await transport.deadLetters(of: group, after: last, count: Self.pageSize)
                for letter in page where reason == nil || letter.reason == reason {
                    guard try body(GroupDeadLetter(group: group, letter: letter)) else { return }
                }
                guard page.count == Self.pageSize, let end = page.last?.id else { break }
                last = end
            }
        }
    }

    /// Returns the dead letters with an id; several groups may have one with the same id.
    func find(_ id: EntryID) async throws -> [GroupDeadLetter] {
        var found: [GroupDeadLetter] = []
        for group in groups {
            let next = try await transport.deadLetters(of: group, after: id.previous, count: 1)
            found += next.filter { $0.id == id }.map { GroupDeadLetter(group: group, letter: $0) }
        }
        return found
    }

    /// Parses the id of a dead letter.
    static func id(_ argument: String) throws -> EntryID {
        guard let id = EntryID(argument) else {
            throw ValidationError("\(argument.printable) is not the ID of a dead letter, such as 1763731805123-0.")
        }
        return id
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

extension EntryID {
    /// The greatest entry id below this one.
    var previous: EntryID {
        if sequence > 0 { return EntryID(milliseconds: milliseconds, sequence: sequence - 1) }
        return milliseconds > 0 ? EntryID(milliseconds: milliseconds - 1, sequence: .max) : .zero
    }
}
