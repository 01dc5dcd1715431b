public import FoundationEssentials
public import JSON
public import WireFormat

/// The action that a handler of the fault tests takes for a piece of work.
public enum WorkKind: String, BodyWord, CaseIterable {
    /// Take the effect, and publish a ``FaultDone``.
    case chained
    /// Take the effect.
    case single
    /// End the process, as a bug in a native library would.
    case poison

    /// The number of effects that the work must have in the end: its own, and that of its ``FaultDone``.
    public var expectedEffects: Int {
        switch self {
        case .chained: 2
        case .single: 1
        case .poison: 0
        }
    }
}

/// A piece of work that a producer has recorded in the ledger.
public struct FaultWork: Event {
    public static var type: EventType { EventType(rawValue: "fault.work") }
    public static var groups: [String] { ["fault"] }

    public var id: UUID
    public var kind: WorkKind

    public var key: String { id.wireString }

    public init(id: UUID, kind: WorkKind) {
        self.id = id
        self.kind = kind
    }

    public init(from body: BodyReader) throws(BodyFault) {
        id = try body.read("id")
        kind = try body.read("kind")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("id", id)
        body.member("kind", kind)
    }
}

/// The event that a handler publishes with its effect; its own effect is the second one of the same work.
public struct FaultDone: Event {
    public static var type: EventType { EventType(rawValue: "fault.done") }
    public static var groups: [String] { ["fault"] }

    public var id: UUID

    public var key: String { id.wireString }

    public init(id: UUID) { self.id = id }

    public init(from body: BodyReader) throws(BodyFault) { id = try body.read("id") }

    public func writeMembers(to body: inout JSONWriter) { body.member("id", id) }
}
