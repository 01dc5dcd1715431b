internal import JSON

/// An object in a reply. Its members are declared once, for the schema and for the JSON.
protocol APIObject: APIValue {
    /// The members in the order of the JSON; the schema has the required ones first.
    static var members: [APIMember<Self>] { get }
}

extension APIObject {
    static var schema: JSONSchema { schema(of: members) }

    /// Returns the schema of an object with these members.
    static func schema(of members: [APIMember<Self>]) -> JSONSchema {
        func properties(isRequired: Bool) -> [(String, JSONSchema)] {
            members.filter { $0.isRequired == isRequired }.map { ($0.name, $0.schema) }
        }
        return .object(properties(isRequired: true), optional: properties(isRequired: false))
    }

    var json: JSONValue {
        .object(Self.members.compactMap { member in member.value(self).map { JSONValue.Member(member.name, $0) } })
    }
}

/// A member of an object in a reply.
struct APIMember<Object: Sendable>: Sendable {
    let name: String
    let schema: JSONSchema
    let isRequired: Bool
    /// Returns the value in an object; nil where the object lacks the member.
    let value: @Sendable (Object) -> JSONValue?

    /// A member that each object has; an optional value may be null.
    static func required<Value: APIValue>(
        _ name: String, _ path: any KeyPath<Object, Value> & Sendable, _ schema: JSONSchema = Value.schema
    ) -> APIMember {
        APIMember(name: name, schema: schema, isRequired: true) { $0[keyPath: path].json }
    }

    /// A member that an object lacks if the value is nil.
    static func optional<Value: APIValue>(
        _ name: String, _ path: any KeyPath<Object, Value?> & Sendable, _ schema: JSONSchema = Value.schema
    ) -> APIMember {
        APIMember(name: name, schema: schema, isRequired: false) { $0[keyPath: path]?.json }
    }

    /// A member with the same value in each object.
    static func constant(_ name: String, _ value: JSONValue) -> APIMember {
        APIMember(name: name, schema: .constant(value), isRequired: true) { _ in value }
    }
}
