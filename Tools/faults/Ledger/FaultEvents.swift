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
    /// `fault.work`, which is also the name of the stream; no service knows it.
    public static var type: EventType { EventType(rawValue: "fault.work") }
    /// Only the group of `fault-worker`.
    public static var groups: [String] { ["fault"] }

    /// The piece of work, as `fault_published` has it.
    public var id: UUID
    /// The action that the handler takes.
    public var kind: WorkKind

    /// The id of the work as text.
    public var key: String { id.wireString }

    /// Creates the event of a piece of work, whose publication is recorded by ``Ledger/publish(_:kind:)``.
    public init(id: UUID, kind: WorkKind) {
        self.id = id
        self.kind = kind
    }

    /// Reads `id` and `kind`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        id = try body.read("id")
        kind = try body.read("kind")
    }

    /// Writes `id` and `kind`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("id", id)
        body.member("kind", kind)
    }
}

/// The event that a handler publishes with its effect; its own effect is the second one of the same work.
public struct FaultDone: Event {
    /// `fault.done`, which is also the name of the stream; no service knows it.
    public static var type: EventType { EventType(rawValue: "fault.done") }
    /// Only the group of `fault-worker`.
    public static var groups: [String] { ["fault"] }

    /// The piece of work whose first effect was taken.
    public var id: UUID

    /// The id of the work as text.
    public var key: String { id.wireString }

    /// Creates the event that follows the first effect of a piece of work.
    public init(id: UUID) { self.id = id }

    /// Reads `id`, which has to be there.
    public init(from body: BodyReader) throws(BodyFault) { id = try body.read("id") }

    /// Writes `id`.
    public func writeMembers(to body: inout JSONWriter) { body.member("id", id) }
}
