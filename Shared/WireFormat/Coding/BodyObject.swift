public import JSON

/// An object in a body, or the body itself: an event writes and reads its members by name.
///
/// Within a version of the schema only optional members may be added; a reader ignores members that it does not know.
public protocol BodyObject: BodyValue {
    /// Reads the members.
    init(from body: BodyReader) throws(BodyFault)

    /// Writes the members, in the order of their names, so that equal objects have equal bytes.
    func writeMembers(to body: inout JSONWriter)
}

extension BodyObject {
    /// Reads a JSON object by its members; other kinds of values are refused.
    public init(json: JSONElement) throws(BodyFault) { try self.init(from: BodyReader(json)) }

    /// Writes a JSON object with the members that ``writeMembers(to:)`` writes.
    public func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }
}

/// Reads the members of one object of a body; of a name that is there twice, the first counts.
public struct BodyReader {
    private let object: JSONElement

    init(_ json: JSONElement) throws(BodyFault) {
        guard json.isObject else { throw BodyFault(json, isNot: "an object") }
        object = json
    }

    /// Reads a member that has to be there.
    public func read<Value: BodyValue>(_ name: String) throws(BodyFault) -> Value {
        guard let value = object[name] else { throw BodyFault("is missing").within(name) }
        do throws(BodyFault) { return try Value(json: value) } catch { throw error.within(name) }
    }

    /// Reads a member that may be absent or null.
    public func readIfPresent<Value: BodyValue>(_ name: String) throws(BodyFault) -> Value? {
        guard let value = object[name], !value.isNull else { return nil }
        do throws(BodyFault) { return try Value(json: value) } catch { throw error.within(name) }
    }
}

extension JSONWriter {
    /// A member of an object of a body; no member when the value is nil.
    public mutating func member(_ name: String, _ value: (some BodyValue)?) {
        guard let value else { return }
        self.name(name)
        value.write(to: &self)
    }
}

/// The fault of a value of a body, and its place; without the value, which must not reach a log.
public struct BodyFault: Error, Sendable, CustomStringConvertible {
    /// The names of the members and the numbers of the elements around the value, the outermost first; nil for the body itself.
    private var path: String?
    private let problem: String

    /// Makes the fault of a value from its problem, such as `is missing`, which must not contain the value.
    public init(_ problem: String) { self.problem = problem }

    /// The fault of a value that is of another kind than expected.
    init(_ json: JSONElement, isNot expected: String) { self.init(json.isNull ? "is null" : "is not \(expected)") }

    /// The same fault, seen from the value around this one; the name must be one that the code knows, or a number.
    func within(_ name: String) -> BodyFault {
        var fault = self
        fault.path = path.map { "\(name).\($0)" } ?? name
        return fault
    }

    /// Such as `field recipient.id is missing`.
    public var description: String { path.map { "field \($0) \(problem)" } ?? "the body \(problem)" }
}
