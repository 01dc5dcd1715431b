import EventBus
import Foundation
import TestSupport
import WireFormat

/// The stream of the tests' messages; each test has its own, because it has its own transport.
let testStream = PhotoUploaded.type.rawValue

/// Returns a group of the tests' stream.
func group(_ name: String) -> StreamGroup { StreamGroup(stream: testStream, name: name) }

/// Returns a consumer of a group of the tests' stream.
func consumer(_ name: String, _ groupName: String = "g") -> GroupConsumer {
    GroupConsumer(group: group(groupName), name: name)
}

/// Makes a message that carries a number.
func message(_ number: Int, id: UUID = UUIDv7.generate()) throws -> OutgoingEntry {
    let event = PhotoUploaded(photoID: UUIDv7.generate(), topic: "\(number)")
    return OutgoingEntry(stream: testStream, envelope: try Envelope(event, id: id).encoded())
}

/// Returns the number that a message carries.
func number(of fields: [StreamField]) throws -> Int {
    let event = try EncodedEnvelope(streamFields: fields).decode(PhotoUploaded.self).body
    return Int(event.topic) ?? -1
}

/// Returns the number that the message of an entry carries.
func number(of entry: DeliveredEntry) throws -> Int { Int(try entry.message.get().decode(PhotoUploaded.self).body.topic) ?? -1 }

extension EventTransport {
    /// Appends messages with the given numbers.
    @discardableResult
    func append(_ numbers: some Sequence<Int>) async throws -> [EntryID] {
        try await append(numbers.map { try message($0) }).map { try $0.get() }
    }

    /// Waits until the group `group` has nothing left to do.
    func waitUntilSettled() async throws {
        try await eventually("nothing is pending or waits for a retry") {
            let status = try await status(of: group("group"))
            return status.pending == 0 && status.retrying == 0 && status.undelivered == 0
        }
    }

    /// Appends an entry that is not a message.
    func appendGarbage() async throws {
        _ = try await append([OutgoingEntry(stream: testStream, fields: [(name: "b", value: [0xFF, 0x00])])])
    }
}

extension EventConsumerConfiguration {
    /// A configuration with short times for tests that still fit a machine under load.
    static var quick: EventConsumerConfiguration {
        var configuration = EventConsumerConfiguration()
        configuration.readWait = .milliseconds(500)
        configuration.claimMinIdle = .seconds(2)
        configuration.claimInterval = .milliseconds(100)
        configuration.heartbeatInterval = .milliseconds(100)
        configuration.drainTimeout = .seconds(20)
        configuration.retryPolicy.baseDelay = .milliseconds(2)
        configuration.retryPolicy.maxDelay = .milliseconds(20)
        configuration.maintenanceInterval = .milliseconds(100)
        configuration.retryPoll = .milliseconds(50)
        configuration.minBackoff = .milliseconds(2)
        configuration.maxBackoff = .milliseconds(20)
        return configuration
    }

    /// The same configuration for tests that age the entries to claim (``TestTransport``), so that no other entry is.
    static var claimingAged: EventConsumerConfiguration {
        var configuration = quick
        configuration.claimMinIdle = .seconds(300)
        configuration.silenceLimit = .seconds(600)
        return configuration
    }

    /// The same configuration without claims of other consumers' entries.
    static var withoutClaims: EventConsumerConfiguration {
        var configuration = quick
        configuration.claimMinIdle = .seconds(600)
        configuration.silenceLimit = .seconds(600)
        return configuration
    }
}
