internal import FoundationEssentials
internal import JSON
internal import WireFormat

/// A field of a JSON object in a request, as the document describes it.
struct BodyField: Sendable {
    let name: String
    let schema: JSONSchema
    let isRequired: Bool
}

/// Fields of a JSON object in a request, and the value that is read from them.
///
/// A body is put together from single fields, so that each is named once for its description and for its reader. They are read in their
/// order; the description has the required ones first. A schema only describes: `make` checks its limits.
struct BodyFields<Value: Sendable>: Sendable {
    let list: [BodyField]
    let read: @Sendable (JSONBody) throws(APIError) -> Value

    /// The schema of an object with these fields.
    var schema: JSONSchema {
        func members(isRequired: Bool) -> [(String, JSONSchema)] {
            list.filter { $0.isRequired == isRequired }.map { ($0.name, $0.schema) }
        }
        return .object(members(isRequired: true), optional: members(isRequired: false))
    }

    private init(_ list: [BodyField], read: @escaping @Sendable (JSONBody) throws(APIError) -> Value) {
        (self.list, self.read) = (list, read)
    }

    /// A single field; the reader gets its name.
    init(
        _ name: String, _ schema: JSONSchema, isRequired: Bool = true,
        read: @escaping @Sendable (JSONBody, String) throws(APIError) -> Value
    ) {
        self.init([BodyField(name: name, schema: schema, isRequired: isRequired)]) { body throws(APIError) in try read(body, name) }
    }

    /// A value of one field.
    init<A>(_ a: BodyFields<A>, make: @escaping @Sendable (A) throws(APIError) -> Value) {
        self.init(a.list) { body throws(APIError) in try make(try a.read(body)) }
    }

    /// A value of two fields.
    init<A, B>(_ a: BodyFields<A>, _ b: BodyFields<B>, make: @escaping @Sendable (A, B) throws(APIError) -> Value) {
        self.init(a.list + b.list) { body throws(APIError) in try make(try a.read(body), try b.read(body)) }
    }

    /// A value of three fields.
    init<A, B, C>(
        _ a: BodyFields<A>, _ b: BodyFields<B>, _ c: BodyFields<C>, make: @escaping @Sendable (A, B, C) throws(APIError) -> Value
    ) {
        self.init(a.list + b.list + c.list) { body throws(APIError) in try make(try a.read(body), try b.read(body), try c.read(body)) }
    }

    /// A value of four fields.
    init<A, B, C, D>(
        _ a: BodyFields<A>, _ b: BodyFields<B>, _ c: BodyFields<C>, _ d: BodyFields<D>,
        make: @escaping @Sendable (A, B, C, D) throws(APIError) -> Value
    ) {
        self.init(a.list + b.list + c.list + d.list) { body throws(APIError) in
            try make(try a.read(body), try b.read(body), try c.read(body), try d.read(body))
        }
    }
}

extension BodyFields {
    /// The value of the first of several fields that has one; nil without any. The others are not read.
    static func first<Wrapped>(of fields: [BodyFields]) -> BodyFields where Value == Wrapped? {
        BodyFields(fields.flatMap(\.list)) { body throws(APIError) in
            for field in fields { if let value = try field.read(body) { return value } }
            return nil
        }
    }
}

extension BodyFields<String> {
    /// A text that must show something.
    static func text(_ name: String, _ schema: JSONSchema = .text) -> BodyFields {
        BodyFields(name, schema) { body, name throws(APIError) in try body.requiredText(name) }
    }

    /// A text that is not prose.
    static func word(_ name: String, _ schema: JSONSchema = .text) -> BodyFields {
        BodyFields(name, schema) { body, name throws(APIError) in try body.requiredWord(name) }
    }
}

extension BodyFields<String?> {
    /// A text that may be missing.
    static func optionalText(_ name: String, _ schema: JSONSchema = .text) -> BodyFields {
        BodyFields(name, schema.orNull, isRequired: false) { body, name throws(APIError) in try body.text(name) }
    }

    /// A text that is not prose and may be missing.
    static func optionalWord(_ name: String, _ schema: JSONSchema = .text) -> BodyFields {
        BodyFields(name, schema.orNull, isRequired: false) { body, name throws(APIError) in try body.word(name) }
    }

    /// A text that is not prose, or null.
    ///
    /// - Parameter refusal: The sentence for a missing field.
    static func wordOrNull(_ name: String, _ schema: JSONSchema = .text, or refusal: String) -> BodyFields {
        BodyFields(name, schema.orNull) { body, name throws(APIError) in
            guard body.has(name) else { throw APIError(.missingField, refusal, field: name) }
            return try body.word(name)
        }
    }
}

extension BodyFields<Bool> {
    /// A truth value.
    static func flag(_ name: String) -> BodyFields {
        BodyFields(name, .boolean) { body, name throws(APIError) in
            guard let value = try body.bool(name) else { throw APIError(.missingField, "A field is missing", field: name) }
            return value
        }
    }
}

extension BodyFields<Date?> {
    /// A time that may be missing.
    static func optionalInstant(_ name: String) -> BodyFields {
        BodyFields(name, .instant.orNull, isRequired: false) { body, name throws(APIError) in try body.instant(name) }
    }
}

extension BodyFields<UUID> {
    /// An id.
    ///
    /// - Parameter refusal: The sentence for a text that is not a UUID.
    static func id(_ name: String, or refusal: String) -> BodyFields {
        BodyFields(name, .uuid) { body, name throws(APIError) in
            guard let id = UUID(wireString: try body.requiredWord(name)) else {
                throw APIError(.invalidRequest, refusal, field: name)
            }
            return id
        }
    }
}
