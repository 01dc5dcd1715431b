public import FoundationEssentials
public import JSON

/// A value in a body: a text, a number, a time, an id, a word, an object, or a list of those.
public protocol BodyValue: Sendable {
    /// Reads the value.
    ///
    /// - Throws: ``BodyFault`` when it is of another kind or out of its range.
    init(json: JSONElement) throws(BodyFault)

    /// Writes the value.
    func write(to json: inout JSONWriter)
}

extension String: BodyValue {
    /// Reads a JSON string of any length.
    public init(json: JSONElement) throws(BodyFault) {
        guard let text = json.string else { throw BodyFault(json, isNot: "a text") }
        self = text
    }

    /// Writes a JSON string, escaped as needed.
    public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: BodyValue {
    /// Reads `true` or `false`.
    public init(json: JSONElement) throws(BodyFault) {
        guard let truth = json.boolean else { throw BodyFault(json, isNot: "true or false") }
        self = truth
    }

    /// Writes `true` or `false`.
    public func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Int: BodyValue {
    /// Reads a JSON number that is whole and fits into 64 bits.
    public init(json: JSONElement) throws(BodyFault) {
        guard let number = json.integer else { throw BodyFault(json, isNot: "a whole number in range") }
        self = number
    }

    /// Writes the number in decimal digits.
    public func write(to json: inout JSONWriter) { json.integer(self) }
}

/// Whole milliseconds since 1970, until the end of the year 9999.
extension Date: BodyValue {
    /// Reads whole milliseconds since 1970; refuses times before 1970 and after the year 9999.
    public init(json: JSONElement) throws(BodyFault) {
        let milliseconds = Int64(try Int(json: json))
        guard (0...Self.maxWireMilliseconds).contains(milliseconds) else { throw BodyFault(json, isNot: "a time from 1970 to 9999") }
        self.init(millisecondsSince1970: milliseconds)
    }

    /// Writes whole milliseconds since 1970.
    public func write(to json: inout JSONWriter) { json.integer(Int(millisecondsSince1970)) }
}

/// Lower case, as in the HTTP API.
extension UUID: BodyValue {
    /// Reads a UUID in its strict wire form of 36 characters.
    public init(json: JSONElement) throws(BodyFault) {
        var id: UUID?
        json.withText { id = UUID(wireBytes: $0) }
        guard let id else { throw BodyFault(json, isNot: "a UUID") }
        self = id
    }

    /// Writes the 36 characters of the UUID in lower case.
    public func write(to json: inout JSONWriter) { withWireText { json.string(unescaped: $0) } }
}

/// One of the words that this build knows.
public protocol BodyWord: BodyValue, RawRepresentable<String>, CaseIterable {}

extension BodyWord {
    /// Reads the raw value of a case; refuses words that this build does not know.
    public init(json: JSONElement) throws(BodyFault) {
        guard let word = Self.allCases.first(where: { json.isText($0.rawValue) }) else {
            throw json.string == nil ? BodyFault(json, isNot: "a text") : BodyFault("has a value that is not known")
        }
        self = word
    }

    /// Writes the raw value of the case.
    public func write(to json: inout JSONWriter) { json.string(rawValue) }
}

extension Array: BodyValue where Element: BodyValue {
    /// Reads a JSON array; a fault in an element names the element's position.
    public init(json: JSONElement) throws(BodyFault) {
        guard let elements = json.elements else { throw BodyFault(json, isNot: "a list") }
        self = []
        reserveCapacity(elements.count)
        for element in elements {
            do throws(BodyFault) { append(try Element(json: element)) } catch { throw error.within("\(count)") }
        }
    }

    /// Writes a JSON array with the elements in their order.
    public func write(to json: inout JSONWriter) {
        json.array { json in
            for element in self { element.write(to: &json) }
        }
    }
}
